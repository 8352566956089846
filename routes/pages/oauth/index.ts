/** Pages of the OAuth server. */
import consent from './consent.ts'
import device from './device.ts'
import logout from './logout.ts'

export const oauthPages = { consent, device, logout }
