/**
 * How long a session may live and be refreshed, as AUTH_SESSIONS_* and AUTH_SECURITY_REFRESH_TOKEN_* say, and for what
 * a second factor must have been proven in it (AUTH_MFA_FRESHNESS, AUTH_MFA_REQUIRED_ROLES).
 */
import { type AmrClaim, secondFactorMethods } from '../../db/mfa.ts'
import type { Aal } from '../../db/sessions.ts'
import type { Config } from '../config/config.ts'

export type SessionPolicy = ReturnType<typeof createSessionPolicy>

/** Durations in seconds. */
interface SessionRules {
  timeboxSeconds: number | undefined
  inactivitySeconds: number | undefined
  singlePerUser: boolean
  /** The kinds of sessions that count apart; a session of none of them counts as the first. */
  tags: readonly string[]
  rotation: boolean
  reuseIntervalSeconds: number
  reuseUntilUsed: boolean
  /** For a session in which a second factor is still owed. */
  lowAalSeconds: number | undefined
  /** How long a second factor counts for what is guarded by it. */
  freshnessSeconds: number | undefined
  /** People with one of these roles need a second factor. */
  factorRoles: readonly string[]
}

type Limit = 'not_after' | 'timebox' | 'inactivity' | 'low_aal'

interface Level {
  aal: Aal | null
  /** Of the person. */
  factors: readonly { status: 'unverified' | 'verified' }[]
}

interface Age extends Level {
  session_created_at: Date | null
  refreshed_at: Date | null
  not_after: Date | null
}

/** A person, and the session behind their token when it has one. */
interface Asking {
  user: Pick<Level, 'factors'> & { role: string | null }
  session: { aal: Aal | null; amr: readonly AmrClaim[] } | undefined
}

function createSessionPolicy(rules: SessionRules) {
  const openedAfter = (now: Date) => cutoff(rules.timeboxSeconds, now)
  const usedAfter = (now: Date) => cutoff(rules.inactivitySeconds, now)
  const owedAfter = (now: Date) => cutoff(rules.lowAalSeconds, now)

  return {
    ...rules,

    /** Sessions opened at or before this have ended; null without such a limit. */
    openedAfter,

    /** Sessions last used at or before this have ended; null without such a limit. */
    usedAfter,

    /** Sessions opened at or before this in which a second factor is owed have ended; null without such a limit. */
    owedAfter,

    /** Which limit the session has reached, if any; in the order in which clients are told. */
    expiredBy(session: Age, now: Date): Limit | undefined {
      const openedAt = session.session_created_at ?? now
      const usedAt = session.refreshed_at ?? openedAt
      if (session.not_after && session.not_after <= now) return 'not_after'
      if (isPast(openedAt, openedAfter(now))) return 'timebox'
      if (isPast(usedAt, usedAfter(now))) return 'inactivity'
      if (owesFactor(session) && isPast(openedAt, owedAfter(now))) return 'low_aal'
      return undefined
    },

    /**
     * Whether what a second factor guards may be done: the person has none, or proved one in this session, and no
     * longer ago than AUTH_MFA_FRESHNESS.
     */
    isConfirmed({ user, session }: Asking, now: Date): boolean {
      if (!hasFactor(user)) return true
      if (!session || isLow(session)) return false
      const provenAfter = cutoff(rules.freshnessSeconds, now)
      return !isPast(latestProof(session.amr), provenAfter)
    },

    /** Why somebody with a role of AUTH_MFA_REQUIRED_ROLES may do nothing yet; undefined for everybody else. */
    owedByRole({ user, session }: Asking, role: string | undefined): OwedFactor | undefined {
      const roles = [user.role, role]
      const isListed = rules.factorRoles.some((listed) => roles.includes(listed))
      if (!isListed || (session && !isLow(session))) return undefined
      return hasFactor(user) ? 'verification' : 'enrollment'
    },

    /** Which kind of session a client opens: what it says it is, when that is one of the configured kinds. */
    tagOf({ tag }: { tag: string | null }): string | null {
      return rules.tags.find((known) => known === tag) ?? rules.tags[0] ?? null
    },

    /**
     * Whether the token just before the current one may come back: for as long as a lost answer explains it. Without
     * rotation a reused token is refused at once.
     */
    toleratesReuse(spentAt: Date, now: Date): boolean {
      if (!rules.rotation) return false
      const age = now.getTime() - spentAt.getTime()
      return rules.reuseUntilUsed || age <= rules.reuseIntervalSeconds * 1000
    },
  }
}

type OwedFactor = 'enrollment' | 'verification'

const provingMethods: readonly string[] = [...secondFactorMethods, 'passkey']

/** Of a session at aal2: whatever of its proofs raised it. */
function latestProof(amr: readonly AmrClaim[]): Date {
  const proofs = amr.filter(({ method }) => provingMethods.includes(method))
  return new Date(Math.max(0, ...proofs.map(({ timestamp }) => timestamp)) * 1000)
}

function hasFactor({ factors }: Pick<Level, 'factors'>): boolean {
  return factors.some(({ status }) => status === 'verified')
}

function isLow({ aal }: Pick<Level, 'aal'>): boolean {
  return aal === null || aal === 'aal1'
}

function owesFactor(session: Level): boolean {
  return isLow(session) && hasFactor(session)
}

function cutoff(seconds: number | undefined, now: Date): Date | null {
  return seconds === undefined ? null : new Date(now.getTime() - seconds * 1000)
}

function isPast(time: Date, limit: Date | null): boolean {
  return limit !== null && time <= limit
}

/** As the operator set it. */
export function configuredSessionPolicy(config: Config): SessionPolicy {
  return createSessionPolicy({
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
  })
}
