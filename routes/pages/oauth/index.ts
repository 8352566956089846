/** Pages of the OAuth server. */
import consent from './consent.ts'
import device from './device.ts'
import logout from './logout.ts'
import response from './response.ts'

export const oauthPages = { consent, device, logout, response }
