/** Hooks that authorize a request before its handler runs, and accessors for the result. They throw like index.ts. */
import type { FastifyRequest } from 'fastify'

import type { SessionRecord } from '../../../db/sessions/sessions.ts'
import { anonymousNotAllowed, noAuthorization } from '../../../schemas/errors.ts'
import type { AuthContext } from './find-bearer.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Also open to users who still have to verify the second factor their role requires. */
    isOpenWithoutFactor?: true
    /**
     * False for a route for signed-in users that an impersonating admin may call: it gives no access to the account, to
     * an organization or to a client. Every other route rejects them.
     */
    rejectsImpersonation?: boolean
  }
}

/** A non-anonymous user with a session: required to change how the user signs in. */
export interface SessionAuth extends AuthContext {
  session: SessionRecord
}

type Authenticate = (request: FastifyRequest, now: Date) => Promise<AuthContext>

interface Auth {
  authenticate: Authenticate
  authenticateNotImpersonated: Authenticate
  authorizeAdmin: (request: FastifyRequest, roles: readonly string[], now: Date) => Promise<void>
  checkFactor: (auth: AuthContext) => void
  adminRoles: readonly string[]
  inviterRoles: readonly string[]
}

export function createGuards(auth: Auth) {
  return {
    /**
     * preParsing: requires a live user and stores them in `request.auth`. Rejects an impersonating admin, except on
     * routes with `rejectsImpersonation: false`.
     */
    async requireUser(request: FastifyRequest): Promise<void> {
      const { rejectsImpersonation } = request.routeOptions.config
      const authenticate =
        rejectsImpersonation === false ? auth.authenticate : auth.authenticateNotImpersonated
      request.auth = await authenticate(request, new Date())
    },

    /** The user of the request, for handlers behind requireUser. Throws no_authorization when there is none. */
    getAuth({ auth }: FastifyRequest): AuthContext {
      if (!auth) throw noAuthorization()
      return auth
    },

    /**
     * As getAuth, for routes with `rejectsImpersonation`. Throws no_authorization for a token without a session (401) and for an
     * anonymous user (403).
     */
    getSessionAuth({ auth }: FastifyRequest): SessionAuth {
      if (!auth?.session) throw noAuthorization()
      if (auth.user.is_anonymous) throw anonymousNotAllowed()
      return { ...auth, session: auth.session }
    },

    /**
     * preParsing after requireUser: with a role of AUTH_MFA_REQUIRED_ROLES, the session must have a verified second
     * factor, unless the route serves to verify one (`config.isOpenWithoutFactor`).
     */
    async requireFactor(request: FastifyRequest): Promise<void> {
      const { auth: bearer, routeOptions } = request
      if (!bearer || routeOptions.config.isOpenWithoutFactor) return
      auth.checkFactor(bearer)
    },

    /** onRequest: requires an admin token whose role may call this endpoint; `request.admin` holds its claims. */
    requireAdmin: (request: FastifyRequest): Promise<void> =>
      auth.authorizeAdmin(request, auth.adminRoles, new Date()),

    /** onRequest: as requireAdmin, for roles that may invite. */
    requireInviter: (request: FastifyRequest): Promise<void> =>
      auth.authorizeAdmin(request, auth.inviterRoles, new Date()),
  }
}
