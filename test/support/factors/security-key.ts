/** A software security key: a second factor and no passkey. */
import { newAuthenticator } from './authenticator.ts'
import { rpId, rpOrigin } from './factors.ts'

export const newSecurityKey = ({ counts = true } = {}) =>
  newAuthenticator({ rpId, origin: rpOrigin, counts, idSize: 16 })
