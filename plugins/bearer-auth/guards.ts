/** Hooks that refuse a request before its handler runs, and who they let in. They throw what bearer-auth.ts throws. */
import type { FastifyRequest } from 'fastify'

import type { SessionRecord } from '../../db/sessions.ts'
import { anonymousNotAllowed, noAuthorization } from '../../errors.ts'
import type { AccessTokenClaims } from '../../schemas/access-token.ts'
import type { Bearer } from './find-bearer.ts'

/** A person with a session, who is somebody: what changes how they sign in needs both. */
export interface Member extends Bearer {
  session: SessionRecord
}

type Authenticate = (request: FastifyRequest, now: Date) => Promise<Bearer>

interface Auth {
  authenticate: Authenticate
  authenticateThemselves: Authenticate
  authorizeRole: (
    request: FastifyRequest,
    roles: readonly string[],
    now: Date,
  ) => Promise<AccessTokenClaims>
  checkFactor: (bearer: Bearer) => void
  adminRoles: readonly string[]
  inviterRoles: readonly string[]
}

export function createGuards(auth: Auth) {
  return {
    /**
     * preParsing: a live person is asking; `request.bearer` holds them. Where the route is for themselves, it is not an
     * admin in their place.
     */
    async requireUser(request: FastifyRequest): Promise<void> {
      const { themselves } = request.routeOptions.config
      const authenticate = themselves ? auth.authenticateThemselves : auth.authenticate
      request.bearer = await authenticate(request, new Date())
    },

    /** Who asks, for handlers behind requireUser. Throws no_authorization when nobody was let in. */
    bearerOf({ bearer }: FastifyRequest): Bearer {
      if (!bearer) throw noAuthorization()
      return bearer
    },

    /**
     * Who asks for what only a person with a session may do, on routes for themselves. Throws no_authorization for a
     * token without one (401) and for somebody anonymous (403).
     */
    memberOf({ bearer }: FastifyRequest): Member {
      if (!bearer?.session) throw noAuthorization()
      if (bearer.user.is_anonymous) throw anonymousNotAllowed()
      return { ...bearer, session: bearer.session }
    },

    /**
     * preParsing after requireUser: with a role of AUTH_MFA_REQUIRED_ROLES, a second factor was proven in the session,
     * or the route is one that leads there (`config.isOpenWithoutFactor`).
     */
    async requireFactor(request: FastifyRequest): Promise<void> {
      const { bearer, routeOptions } = request
      if (!bearer || routeOptions.config.isOpenWithoutFactor) return
      auth.checkFactor(bearer)
    },

    /** onRequest: the token's role is one of AUTH_JWT_ADMIN_ROLES; `request.admin` holds its claims. */
    async requireAdmin(request: FastifyRequest): Promise<void> {
      request.admin = await auth.authorizeRole(request, auth.adminRoles, new Date())
      request.adminRoles = auth.adminRoles
    },

    /** onRequest: like requireAdmin, for the roles that may invite. */
    async requireInviter(request: FastifyRequest): Promise<void> {
      request.admin = await auth.authorizeRole(request, auth.inviterRoles, new Date())
      request.adminRoles = auth.inviterRoles
    },
  }
}
