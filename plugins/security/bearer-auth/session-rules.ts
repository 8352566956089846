/** The settings of the session policy (AUTH_SESSIONS_*, AUTH_SECURITY_REFRESH_TOKEN_*, AUTH_MFA_*). */
import type { Config } from '../../../config/groups/index.ts'

/** Durations in seconds. */
export interface SessionRules {
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

export function readSessionRules(config: Config): SessionRules {
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
