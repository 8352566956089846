/** How long a session may live and be refreshed, as AUTH_SESSIONS_* and AUTH_SECURITY_REFRESH_TOKEN_* say. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    sessionPolicy: SessionPolicy
  }
}

export type SessionPolicy = ReturnType<typeof createSessionPolicy>

/** Durations in seconds. */
export interface SessionRules {
  timeboxSeconds: number | undefined
  inactivitySeconds: number | undefined
  singlePerUser: boolean
  /** The kinds of sessions that count apart; a session of none of them counts as the first. */
  tags: readonly string[]
  rotation: boolean
  reuseIntervalSeconds: number
  reuseUntilUsed: boolean
}

type Limit = 'not_after' | 'timebox' | 'inactivity'

interface Age {
  session_created_at: Date | null
  refreshed_at: Date | null
  not_after: Date | null
}

export function createSessionPolicy(rules: SessionRules) {
  const openedAfter = (now: Date) => cutoff(rules.timeboxSeconds, now)
  const usedAfter = (now: Date) => cutoff(rules.inactivitySeconds, now)

  return {
    ...rules,

    /** Sessions opened at or before this have ended; null without such a limit. */
    openedAfter,

    /** Sessions last used at or before this have ended; null without such a limit. */
    usedAfter,

    /** Which limit the session has reached, if any; in the order in which clients are told. */
    expiredBy(session: Age, now: Date): Limit | undefined {
      const openedAt = session.session_created_at ?? now
      const usedAt = session.refreshed_at ?? openedAt
      if (session.not_after && session.not_after <= now) return 'not_after'
      if (isPast(openedAt, openedAfter(now))) return 'timebox'
      if (isPast(usedAt, usedAfter(now))) return 'inactivity'
      return undefined
    },

    /** Which kind of session a client opens: what it says it is, when that is one of the configured kinds. */
    tagOf({ tag }: { tag: string | null }): string | null {
      return rules.tags.find((known) => known === tag) ?? rules.tags[0] ?? null
    },

    /** Whether the token just before the current one may come back: for as long as a lost answer explains it. */
    toleratesReuse(spentAt: Date, now: Date): boolean {
      const age = now.getTime() - spentAt.getTime()
      return rules.reuseUntilUsed || age <= rules.reuseIntervalSeconds * 1000
    },
  }
}

function cutoff(seconds: number | undefined, now: Date): Date | null {
  return seconds === undefined ? null : new Date(now.getTime() - seconds * 1000)
}

function isPast(time: Date, limit: Date | null): boolean {
  return limit !== null && time <= limit
}

async function sessionPolicy(fastify: FastifyInstance) {
  const { config } = fastify
  const rules = {
    timeboxSeconds: config.AUTH_SESSIONS_TIMEBOX,
    inactivitySeconds: config.AUTH_SESSIONS_INACTIVITY_TIMEOUT,
    singlePerUser: config.AUTH_SESSIONS_SINGLE_PER_USER,
    tags: config.AUTH_SESSIONS_TAGS,
    rotation: config.AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED,
    reuseIntervalSeconds: config.AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL,
    reuseUntilUsed: config.AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED,
  }
  fastify.decorate('sessionPolicy', createSessionPolicy(rules))
}

export default fp(sessionPolicy, {
  name: 'session-policy',
  fastify: '5.x',
  dependencies: ['config'],
})
