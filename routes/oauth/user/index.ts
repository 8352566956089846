/** Routes for user tokens: authorization requests and grants. */
import authorization from './authorization.ts'
import grants from './grants.ts'

export const userRoutes = { authorization, grants }
