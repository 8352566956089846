/**
 * Session lifetimes and refresh rules (AUTH_SESSIONS_*, AUTH_SECURITY_REFRESH_TOKEN_*), and where a second factor is
 * required (AUTH_MFA_FRESHNESS, AUTH_MFA_REQUIRED_ROLES).
 */
import type { Config } from '../../../config/groups/index.ts'
import { type AmrClaim, secondFactorMethods } from '../../../db/tables/factors.ts'
import type { Aal } from '../../../db/tables/sessions.ts'
import { ApiError, insufficientAal, mfaEnrollmentRequired } from '../../../schemas/errors.ts'

export type SessionPolicy = ReturnType<typeof createSessionPolicy>

type Limit = 'not_after' | 'timebox' | 'inactivity' | 'low_aal'

interface FactorState {
  aal: Aal | null
  /** Of the user. */
  factors: readonly { status: 'unverified' | 'verified' }[]
}

interface SessionTimes extends FactorState {
  session_created_at: Date | null
  refreshed_at: Date | null
  not_after: Date | null
  oauth_client_id: string | null
}

/** A user, and the session of their token when it has one. */
interface FactorSubject {
  user: Pick<FactorState, 'factors'> & { role: string | null }
  session: { aal: Aal | null; amr: readonly AmrClaim[] } | undefined
}

function createSessionPolicy(rules: SessionRules) {
  return {
    ...rules,
    ...createSessionLimits(rules),
    ...createFactorRules(rules),
    ...createReuseRules(rules),

    /** The session tag of a client: the one it sends, if it is configured. */
    resolveTag({ tag }: { tag: string | null }): string | null {
      return rules.tags.find((known) => known === tag) ?? rules.tags[0] ?? null
    },
  }
}

function createSessionLimits(rules: SessionRules) {
  const openedAfter = (now: Date) => cutoff(rules.timeboxSeconds, now)
  const usedAfter = (now: Date) => cutoff(rules.inactivitySeconds, now)
  const factorRequiredAfter = (now: Date) => cutoff(rules.lowAalSeconds, now)

  return {
    /** Sessions created at or before this have expired; null without such a limit. */
    openedAfter,

    /** Sessions last used at or before this have expired; null without such a limit. */
    usedAfter,

    /** Sessions created at or before this that still lack a required factor have expired; null without such a limit. */
    factorRequiredAfter,

    /** The limit that the session has reached, if any; in the order of the reported errors. */
    expiredBy(session: SessionTimes, now: Date): Limit | undefined {
      const openedAt = session.session_created_at ?? now
      const usedAt = session.refreshed_at ?? openedAt
      if (session.not_after && session.not_after <= now) return 'not_after'
      if (isPast(openedAt, openedAfter(now))) return 'timebox'
      if (isPast(usedAt, usedAfter(now))) return 'inactivity'
      const isClients = session.oauth_client_id !== null
      if (!isClients && requiresFactor(session) && isPast(openedAt, factorRequiredAfter(now))) {
        return 'low_aal'
      }
      return undefined
    },
  }
}

function createFactorRules(rules: SessionRules) {
  return {
    /**
     * Whether guarded actions are allowed: the user has no factor, or verified one in this session within
     * AUTH_MFA_FRESHNESS.
     */
    isConfirmed({ user, session }: FactorSubject, now: Date): boolean {
      if (!hasFactor(user)) return true
      if (!session || isBelowAal2(session)) return false
      const verifiedAfter = cutoff(rules.freshnessSeconds, now)
      return !isPast(latestFactorTime(session.amr), verifiedAfter)
    },

    /** Why a user with a role of AUTH_MFA_REQUIRED_ROLES is still limited; undefined for every other user. */
    requiredByRole(
      { user, session }: FactorSubject,
      role: string | undefined,
    ): RequiredFactor | undefined {
      const roles = [user.role, role]
      const listed = [...rules.factorRoles, rules.limitedRole]
      const isListed = rules.factorRoles.length > 0 && listed.some((one) => roles.includes(one))
      if (!isListed || (session && !isBelowAal2(session))) return undefined
      return hasFactor(user) ? 'verification' : 'enrollment'
    },

    /** The same for admins, whatever their role. Enrollment is required while AUTH_CONSOLE_REQUIRE_MFA is set. */
    requiredByAdmin({ user, session }: FactorSubject): RequiredFactor | undefined {
      if (session && !isBelowAal2(session)) return undefined
      return hasFactor(user) ? 'verification' : 'enrollment'
    },
  }
}

function createReuseRules(rules: SessionRules) {
  const isInReuseInterval = (consumedAt: Date, now: Date) =>
    now.getTime() - consumedAt.getTime() <= rules.reuseIntervalSeconds * 1000

  return {
    /**
     * Whether the previous refresh token is still accepted: for as long as a lost response explains its reuse. Without
     * rotation a reused token is rejected immediately.
     */
    toleratesReuse(consumedAt: Date, now: Date): boolean {
      return rules.rotation && (rules.reuseUntilUsed || isInReuseInterval(consumedAt, now))
    },

    isInReuseInterval: (consumedAt: Date, now: Date) =>
      rules.rotation && isInReuseInterval(consumedAt, now),
  }
}

export type RequiredFactor = 'enrollment' | 'verification'

/** Throws mfa_enrollment_required or insufficient_aal when a second factor is required. */
export function throwIfRequired(required: RequiredFactor | undefined): void {
  if (required === 'enrollment') throw mfaEnrollmentRequired()
  if (required) throw insufficientAal('Users with this role must verify a second factor first', 403)
}

/** The requirement that such an error reports; undefined for every other error. */
export function getRequiredFactor(error: unknown): RequiredFactor | undefined {
  if (!(error instanceof ApiError)) return undefined
  if (error.errorCode === 'insufficient_aal') return 'verification'
  return error.errorCode === 'mfa_enrollment_required' ? 'enrollment' : undefined
}

const provingMethods: readonly string[] = [...secondFactorMethods, 'passkey']

/** The time of the newest authentication that stepped the session up to aal2. */
function latestFactorTime(amr: readonly AmrClaim[]): Date {
  const proofs = amr.filter(({ method }) => provingMethods.includes(method))
  return new Date(Math.max(0, ...proofs.map(({ timestamp }) => timestamp)) * 1000)
}

function hasFactor({ factors }: Pick<FactorState, 'factors'>): boolean {
  return factors.some(({ status }) => status === 'verified')
}

function isBelowAal2({ aal }: Pick<FactorState, 'aal'>): boolean {
  return aal === null || aal === 'aal1'
}

function requiresFactor(session: FactorState): boolean {
  return isBelowAal2(session) && hasFactor(session)
}

function cutoff(seconds: number | undefined, now: Date): Date | null {
  return seconds === undefined ? null : new Date(now.getTime() - seconds * 1000)
}

function isPast(time: Date, limit: Date | null): boolean {
  return limit !== null && time <= limit
}

/** The policy from the configuration. */
export function configuredSessionPolicy(config: Config) {
  const rules = readSessionRules(config)
  const policy = createSessionPolicy(rules)
  return Object.assign(policy, {
    /** Rebuilds the policy after settings changed. */
    reload(): void {
      Object.assign(rules, readSessionRules(config))
      Object.assign(policy, rules)
    },
  })
}

// The settings of the session policy (AUTH_SESSIONS_*, AUTH_SECURITY_REFRESH_TOKEN_*, AUTH_MFA_*).

/** Durations in seconds. */
interface SessionRules {
  timeboxSeconds: number | undefined
  inactivitySeconds: number | undefined
  singlePerUser: boolean
  /** Session tags that are limited separately; a session without one counts as the first. */
  tags: readonly string[]
  rotation: boolean
  reuseIntervalSeconds: number
  reuseUntilUsed: boolean
  /** For a session in which a second factor is still required. */
  lowAalSeconds: number | undefined
  /** How long a verified second factor is accepted for guarded actions. */
  freshnessSeconds: number | undefined
  /** Users with one of these roles need a second factor. */
  factorRoles: readonly string[]
  /** The role in their tokens until they have verified one. */
  limitedRole: string
}

function readSessionRules(config: Config): SessionRules {
  return {
    timeboxSeconds: config.AUTH_SESSIONS_TIMEBOX,
    inactivitySeconds: config.AUTH_SESSIONS_INACTIVITY_TIMEOUT,
    singlePerUser: config.AUTH_SESSIONS_SINGLE_PER_USER,
    tags: config.AUTH_SESSIONS_TAGS,
    rotation: config.AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED,
    reuseIntervalSeconds: config.AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL,
    reuseUntilUsed: config.AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED,
    lowAalSeconds: config.AUTH_SESSIONS_ALLOW_LOW_AAL,
    freshnessSeconds: config.AUTH_MFA_FRESHNESS,
    factorRoles: config.AUTH_MFA_REQUIRED_ROLES,
    limitedRole: config.AUTH_MFA_LIMITED_ROLE,
  }
}
