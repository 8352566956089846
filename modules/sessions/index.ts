/** Sessions: created here only, refreshed, stepped up, listed and revoked. */

export { createSession, toTokenResponse } from './create.ts'
export { createSessionWithUser } from './create-with-user.ts'
export { getDeviceName } from './device-name.ts'
export { findSessionByRefreshToken, listSessions } from './find-by-token.ts'
export { type LogoutTokenSession, verifyLogoutToken } from './logout-link.ts'
export { refreshSession } from './refresh.ts'
export { sessionIdOfRefreshToken } from './refresh-token.ts'
export {
  type EventWriter,
  endAccessToOthers,
  revokeAllSessions,
  revokeSession,
  suspendSessions,
} from './revoke.ts'
export { isSuperseded } from './rotation.ts'
export { permitStepUp, stepUpToAal2 } from './step-up.ts'
export type { GrantedScope } from './token-response.ts'
