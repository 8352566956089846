/** Routes for clients and browsers; each authenticates its callers. */
import authorizationServer from './authorization-server.ts'
import authorize from './authorize.ts'
import deviceAuthorization from './device-authorization.ts'
import protectedResource from './protected-resource.ts'
import pushedRequest from './pushed-request.ts'
import register from './register.ts'
import revoke from './revoke.ts'
import token from './token.ts'
import userinfo from './userinfo.ts'

export const publicRoutes = {
  authorizationServer,
  protectedResource,
  authorize,
  pushedRequest,
  deviceAuthorization,
  token,
  revoke,
  userinfo,
  register,
}
