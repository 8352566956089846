/** Who is asking: the bearer token (RFC 6750), the person and the session behind it, for as long as it counts, or an admin role. */
import type { FastifyRequest } from 'fastify'

import type { Trx } from '../db/database.ts'
import { lockUsers } from '../db/user-rows.ts'
import { isBanned, type UserRecord } from '../db/users.ts'
import {
  insufficientAal,
  mfaEnrollmentRequired,
  noAuthorization,
  notAdmin,
  sessionImpersonated,
  sessionInvalid,
  sessionNotFound,
  userBanned,
  userFromTokenNotFound,
} from '../errors.ts'
import { type AccessTokenClaims, isImpersonated } from '../schemas/access-token.ts'
import { isUuid } from '../schemas/fields.ts'
import { type Bearer, checkAudience, findBearer, sessionIdOf } from './bearer-auth/find-bearer.ts'
import { createGuards, type Member } from './bearer-auth/guards.ts'
import { createLookUps, type LookUps, lookUpsIn } from './bearer-auth/look-ups.ts'
import { configuredSessionPolicy } from './bearer-auth/session-policy.ts'
import { definePlugin, type House } from './define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    bearerAuth: ReturnType<typeof createBearerAuth> & ReturnType<typeof createGuards>
  }
  interface FastifyContextConfig {
    /** Also for people who owe the second factor that their role demands. */
    isOpenWithoutFactor?: true
    /**
     * True for a route by which a person changes how they sign in: an admin in their place is refused. Every route for
     * signed-in people says one or the other.
     */
    themselves?: boolean
  }
  interface FastifyRequest {
    bearer: Bearer | null
    admin: AccessTokenClaims | null
    /** The roles that were let in with `admin`. */
    adminRoles: readonly string[] | undefined
  }
}

export type { Bearer, Member }

function createBearerAuth(house: House<'config' | 'db' | 'jwt'>) {
  const { config, db, jwt } = house
  const sessionPolicy = configuredSessionPolicy(config)
  const lookUps = createLookUps(db, config.AUTH_API_MAX_REQUEST_DURATION * 1000)
  const adminRoles = config.AUTH_JWT_ADMIN_ROLES

  function readClaims(request: FastifyRequest): Promise<AccessTokenClaims> {
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization?.trim() ?? '')?.[1]
    if (!token) throw noAuthorization()
    return jwt.verify(token)
  }

  /** Throws no_authorization, bad_jwt, user_not_found, session_not_found or user_banned. */
  async function authenticate(request: FastifyRequest, now: Date): Promise<Bearer> {
    const claims = await readClaims(request)
    checkAudience(request, claims)
    return findLive(lookUps, claims, now)
  }

  /** The person, and not an admin in their place. Throws session_impersonated, and what `authenticate` throws. */
  async function authenticateThemselves(request: FastifyRequest, now: Date): Promise<Bearer> {
    const bearer = await authenticate(request, now)
    if (isImpersonated(bearer.claims)) throw sessionImpersonated()
    return bearer
  }

  async function findLive(from: LookUps, claims: AccessTokenClaims, now: Date): Promise<Bearer> {
    const bearer = await findBearer(from, claims)
    if (bearer.user.deleted_at) throw userFromTokenNotFound()
    if (isBanned(bearer.user, now)) throw userBanned(403)
    return bearer
  }

  /** Throws mfa_enrollment_required or insufficient_aal for a role that demands a second factor. */
  function checkFactor({ user, session, claims }: Bearer): void {
    const owed = sessionPolicy.owedByRole({ user, session }, claims.role)
    if (owed === 'enrollment') throw mfaEnrollmentRequired()
    if (owed) throw insufficientAal('People with this role must prove a second factor first', 403)
  }

  /** Throws like authenticate, and not_admin, session_expired, mfa_enrollment_required or insufficient_aal. */
  async function authorizeRole(
    request: FastifyRequest,
    roles: readonly string[],
    now: Date,
  ): Promise<AccessTokenClaims> {
    const claims = await readClaims(request)
    // An impersonated session has the rights of the person, never those of an admin.
    if (!claims.role || !roles.includes(claims.role) || isImpersonated(claims)) throw notAdmin()
    await checkRole(lookUps, claims, roles, now)
    return claims
  }

  /** The token may be older than what the person may do today. A token without a session has no person behind it. */
  async function checkRole(
    from: LookUps,
    claims: AccessTokenClaims,
    roles: readonly string[],
    now: Date,
  ): Promise<void> {
    if (!sessionIdOf(claims) || !claims.sub) return
    const bearer = await findLive(from, claims, now)
    const { user, session } = bearer
    if (!user.role || !roles.includes(user.role)) throw notAdmin()
    if (session && sessionPolicy.expiredBy(session, now)) throw sessionInvalid()
    checkFactor(bearer)
  }

  /**
   * First in a transaction: the person and their session as they are now, and until it ends. Whoever was let in may have
   * been signed out while their request was on its way. Throws what `authenticate` throws.
   */
  async function hold(trx: Trx, { user, claims }: Bearer, now: Date): Promise<Bearer> {
    await lockUsers(trx, [user.id])
    return findLive(lookUpsIn(trx), claims, now)
  }

  /** The same for what needs a session. Throws session_not_found as well. */
  async function holdMember(trx: Trx, member: Member, now: Date): Promise<Member> {
    const { session, ...held } = await hold(trx, member, now)
    if (!session) throw sessionNotFound()
    return { ...held, session }
  }

  /**
   * First in a transaction: the admin is one now, and until it ends. The person whom the path names, or else `subject`, is
   * held along with them, in an order in which no two admins wait for each other. Throws what `requireAdmin` throws.
   */
  async function holdAdmin(
    trx: Trx,
    { admin, adminRoles: roles, params }: Pick<FastifyRequest, 'admin' | 'adminRoles' | 'params'>,
    now: Date,
    subject?: Pick<UserRecord, 'id'>,
  ): Promise<void> {
    if (!admin || !roles) throw notAdmin()
    if (!sessionIdOf(admin) || !admin.sub) return
    const subjects = subject ? [subject.id] : personIn(params)
    await lockUsers(trx, [admin.sub, ...subjects])
    await checkRole(lookUpsIn(trx), admin, roles, now)
  }

  const authorizeAdmin = (request: FastifyRequest, now: Date) =>
    authorizeRole(request, adminRoles, now)

  return {
    /** A person by UUID, by a statement that requests share; undefined when there is none. */
    findPerson: lookUps.person,
    authenticate,
    authenticateThemselves,
    authorizeRole,
    checkFactor,
    /** How long a session counts, for those who open and refresh them. */
    sessionPolicy,
    isConfirmed: sessionPolicy.isConfirmed,
    adminRoles,
    /** Admins, and the two roles that may always invite. */
    inviterRoles: [...adminRoles, 'service_role', 'platform_admin'],
    hold,
    holdMember,
    holdAdmin,
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

/** The person whom the path of a request is about. */
function personIn(params: unknown): string[] {
  const { user_id: id }: { user_id?: unknown } = Object(params)
  return typeof id === 'string' && isUuid(id) ? [id] : []
}

export default definePlugin({
  name: 'bearerAuth',
  needs: ['config', 'db', 'jwt', 'decorateRequest'],
  create(house) {
    house.decorateRequest('bearer', null)
    house.decorateRequest('admin', null)
    house.decorateRequest('adminRoles')
    const auth = createBearerAuth(house)
    return { ...auth, ...createGuards(auth) }
  },
})
