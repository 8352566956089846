/** Routes of the OAuth server, by caller. Loaded while AUTH_OAUTH_SERVER_ENABLED is set. */
import { authorizationRoutes } from './authorizations.ts'
import { authorizeRoutes } from './authorize.ts'
import { clientRoutes } from './clients.ts'
import { metadataRoutes } from './metadata.ts'
import register from './registration.ts'
import { tokenRoutes } from './token.ts'
import userinfo from './userinfo.ts'

/** For clients and browsers; each authenticates its callers. */
export const publicRoutes = {
  ...metadataRoutes,
  ...authorizeRoutes,
  ...tokenRoutes,
  userinfo,
  register,
}

/** For user tokens. */
export const userRoutes = authorizationRoutes

/** For admin tokens. */
export const adminRoutes = clientRoutes
