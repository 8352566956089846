/** Who is asking: the bearer token (RFC 6750), the person and the session behind it, or an admin role. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

import type { Db } from '../db/database.ts'
import {
  noAuthorization,
  notAdmin,
  sessionImpersonated,
  sessionInvalid,
  userBanned,
  userFromTokenNotFound,
} from '../errors.ts'
import type { AccessTokenClaims } from '../schemas/access-token.ts'
import {
  type Bearer,
  checkAudience,
  findBearer,
  isImpersonated,
  sessionIdOf,
} from './bearer-auth/find-bearer.ts'
import type { SessionPolicy } from './session-policy.ts'

declare module 'fastify' {
  interface FastifyInstance {
    bearerAuth: ReturnType<typeof createBearerAuth>
    /** preHandler: a live person is asking; `request.bearer` holds them. */
    requireUser: (request: FastifyRequest) => Promise<void>
    /** preHandler after requireUser: it is the person, not an admin in their place. */
    requireThemselves: (request: FastifyRequest) => Promise<void>
    /** onRequest: the token's role is one of AUTH_JWT_ADMIN_ROLES; `request.admin` holds its claims. */
    requireAdmin: (request: FastifyRequest) => Promise<void>
    /** onRequest: like requireAdmin, for the roles that may invite. */
    requireInviter: (request: FastifyRequest) => Promise<void>
  }
  interface FastifyRequest {
    bearer: Bearer | null
    admin: AccessTokenClaims | null
  }
}

export type { Bearer }

interface BearerDeps {
  db: Db
  adminRoles: readonly string[]
  policy: Pick<SessionPolicy, 'expiredBy'>
  verify: (token: string) => Promise<AccessTokenClaims>
}

export function createBearerAuth({ db, adminRoles, policy, verify }: BearerDeps) {
  function readClaims(request: FastifyRequest): Promise<AccessTokenClaims> {
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization?.trim() ?? '')?.[1]
    if (!token) throw noAuthorization()
    return verify(token)
  }

  /** Throws no_authorization, bad_jwt, user_not_found, session_not_found or user_banned. */
  async function authenticate(request: FastifyRequest, now: Date): Promise<Bearer> {
    const claims = await readClaims(request)
    checkAudience(request, claims)
    return findLive(claims, now)
  }

  async function findLive(claims: AccessTokenClaims, now: Date): Promise<Bearer> {
    const bearer = await findBearer(db, claims)
    const { banned_until, deleted_at } = bearer.user
    if (deleted_at) throw userFromTokenNotFound()
    if (banned_until && banned_until > now) throw userBanned(403)
    return bearer
  }

  /** Throws no_authorization, bad_jwt, not_admin, user_banned, session_not_found or session_expired. */
  async function authorizeRole(
    request: FastifyRequest,
    roles: readonly string[],
    now: Date,
  ): Promise<AccessTokenClaims> {
    const claims = await readClaims(request)
    // A borrowed session never reaches what its lender could not do.
    if (!claims.role || !roles.includes(claims.role) || isImpersonated(claims)) throw notAdmin()
    if (!sessionIdOf(claims) || !claims.sub) return claims
    const { session } = await findLive(claims, now)
    if (session && policy.expiredBy(session, now)) throw sessionInvalid()
    return claims
  }

  const authorizeAdmin = (request: FastifyRequest, now: Date) =>
    authorizeRole(request, adminRoles, now)

  return {
    authenticate,
    authorizeAdmin,
    /** An admin, or one of the two roles that may always invite. Throws like authorizeAdmin. */
    authorizeInviter: (request: FastifyRequest, now: Date) =>
      authorizeRole(request, [...adminRoles, 'service_role', 'platform_admin'], now),
    /** True for a request that carries a valid admin token; never throws. */
    async isAdmin(request: FastifyRequest): Promise<boolean> {
      try {
        await authorizeAdmin(request, new Date())
        return true
      } catch {
        return false
      }
    },
  }
}

async function bearerAuth(fastify: FastifyInstance) {
  const { db, config, jwt, sessionPolicy: policy } = fastify
  const auth = createBearerAuth({
    db,
    adminRoles: config.AUTH_JWT_ADMIN_ROLES,
    policy,
    verify: (token) => jwt.verify(token),
  })
  fastify.decorate('bearerAuth', auth)
  fastify.decorateRequest('bearer', null)
  fastify.decorateRequest('admin', null)
  fastify.decorate('requireUser', async (request: FastifyRequest) => {
    request.bearer = await auth.authenticate(request, new Date())
  })
  fastify.decorate('requireThemselves', async ({ bearer }: FastifyRequest) => {
    if (bearer && isImpersonated(bearer.claims)) throw sessionImpersonated()
  })
  fastify.decorate('requireAdmin', async (request: FastifyRequest) => {
    request.admin = await auth.authorizeAdmin(request, new Date())
  })
  fastify.decorate('requireInviter', async (request: FastifyRequest) => {
    request.admin = await auth.authorizeInviter(request, new Date())
  })
}

export default fp(bearerAuth, {
  name: 'bearer-auth',
  fastify: '5.x',
  dependencies: ['config', 'db', 'jwt', 'session-policy'],
})
