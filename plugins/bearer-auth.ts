/** Who is asking: the bearer token (RFC 6750), the person and the session behind it, or an admin role. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

import type { Db } from '../db/database.ts'
import { findSession, type SessionRecord } from '../db/sessions.ts'
import { findUser, type UserRecord } from '../db/users.ts'
import {
  badJwt,
  noAuthorization,
  notAdmin,
  sessionNotFound,
  userBanned,
  userFromTokenNotFound,
  validationFailed,
} from '../errors.ts'
import type { AccessTokenClaims } from '../schemas/access-token.ts'
import { isUuid } from '../schemas/fields.ts'

declare module 'fastify' {
  interface FastifyInstance {
    bearerAuth: ReturnType<typeof createBearerAuth>
    /** preHandler: a live person is asking; `request.bearer` holds them. */
    requireUser: (request: FastifyRequest) => Promise<void>
    /** preHandler: the token's role is one of AUTH_JWT_ADMIN_ROLES; `request.admin` holds its claims. */
    requireAdmin: (request: FastifyRequest) => Promise<void>
    /** preHandler: like requireAdmin, for the roles that may invite. */
    requireInviter: (request: FastifyRequest) => Promise<void>
  }
  interface FastifyRequest {
    bearer: Bearer | null
    admin: AccessTokenClaims | null
  }
}

/** A person with the token they showed; tokens without a session_id have no session. */
export interface Bearer {
  claims: AccessTokenClaims
  user: UserRecord
  session: SessionRecord | undefined
}

interface BearerDeps {
  db: Db
  adminRoles: readonly string[]
  verify: (token: string) => Promise<AccessTokenClaims>
}

export function createBearerAuth({ db, adminRoles, verify }: BearerDeps) {
  function readClaims(request: FastifyRequest): Promise<AccessTokenClaims> {
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization?.trim() ?? '')?.[1]
    if (!token) throw noAuthorization()
    return verify(token)
  }

  /** Throws no_authorization, bad_jwt, user_not_found, session_not_found or user_banned. */
  async function authenticate(request: FastifyRequest, now: Date): Promise<Bearer> {
    const claims = await readClaims(request)
    checkAudience(request, claims)
    const bearer = await findBearer(db, claims)
    const { banned_until, deleted_at } = bearer.user
    if (deleted_at) throw userFromTokenNotFound()
    if (banned_until && banned_until > now) throw userBanned(403)
    return bearer
  }

  /** Throws no_authorization, bad_jwt, not_admin or session_not_found. */
  async function authorizeRole(
    request: FastifyRequest,
    roles: readonly string[],
  ): Promise<AccessTokenClaims> {
    const claims = await readClaims(request)
    // A borrowed session (RFC 8693 §4.1) never reaches what its lender could not do.
    if (!claims.role || !roles.includes(claims.role) || 'act' in claims) throw notAdmin()
    if (claims.session_id && claims.sub) await findBearer(db, claims)
    return claims
  }

  const authorizeAdmin = (request: FastifyRequest) => authorizeRole(request, adminRoles)

  return {
    authenticate,
    authorizeAdmin,
    /** An admin, or one of the two roles that may always invite. Throws like authorizeAdmin. */
    authorizeInviter: (request: FastifyRequest) =>
      authorizeRole(request, [...adminRoles, 'service_role', 'platform_admin']),
    /** True for a request that carries a valid admin token; never throws. */
    async isAdmin(request: FastifyRequest): Promise<boolean> {
      try {
        await authorizeAdmin(request)
        return true
      } catch {
        return false
      }
    },
  }
}

async function findBearer(db: Db, claims: AccessTokenClaims): Promise<Bearer> {
  const { sub, session_id } = claims
  if (!sub) throw badJwt('invalid claim: missing sub claim')
  if (!isUuid(sub)) throw badJwt('invalid claim: sub claim must be a UUID', 400)
  if (session_id && !isUuid(session_id)) {
    throw badJwt('invalid claim: session_id claim must be a UUID')
  }
  const session = session_id ? await findSession(db, session_id, sub) : undefined
  if (session) return { claims, user: session, session }
  const user = await findUser(db, sub)
  if (!user) throw userFromTokenNotFound()
  if (session_id) throw sessionNotFound()
  return { claims, user, session: undefined }
}

function checkAudience(request: FastifyRequest, { aud }: AccessTokenClaims) {
  const asked = request.headers['x-jwt-aud']
  if (asked !== undefined && asked !== aud) {
    throw validationFailed("Token audience doesn't match request audience")
  }
}

async function bearerAuth(fastify: FastifyInstance) {
  const { db, config, jwt } = fastify
  const auth = createBearerAuth({
    db,
    adminRoles: config.AUTH_JWT_ADMIN_ROLES,
    verify: (token) => jwt.verify(token),
  })
  fastify.decorate('bearerAuth', auth)
  fastify.decorateRequest('bearer', null)
  fastify.decorateRequest('admin', null)
  fastify.decorate('requireUser', async (request: FastifyRequest) => {
    request.bearer = await auth.authenticate(request, new Date())
  })
  fastify.decorate('requireAdmin', async (request: FastifyRequest) => {
    request.admin = await auth.authorizeAdmin(request)
  })
  fastify.decorate('requireInviter', async (request: FastifyRequest) => {
    request.admin = await auth.authorizeInviter(request)
  })
}

export default fp(bearerAuth, {
  name: 'bearer-auth',
  fastify: '5.x',
  dependencies: ['config', 'db', 'jwt'],
})
