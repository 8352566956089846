/** What is old: each step removes one kind of row, by how long ago it ended. */
import {
  deleteEndedSessions,
  deleteExpiredOneTimeTokens,
  deleteIdleSessions,
  deleteOldAnonymousUsers,
  deleteOldAuditEntries,
  deleteOldFlowStates,
  deleteOldSendIntervals,
  deleteOldThrottles,
  deleteSessionsOpened,
  deleteSpentRefreshTokens,
} from '../../db/clean-up.ts'
import type { Db } from '../../db/database.ts'

/** Seconds. */
export interface Retention {
  /** For what ends by itself or is spent, counted from its end. */
  ended: number
  sessionTimebox: number | undefined
  sessionInactivity: number | undefined
  /** The longest a flow can take from its start to the end of its code. */
  flow: number
  /** The longest time during which failures or the last message to an address matter. */
  limits: number
  anonymousUsers: number | undefined
  auditLog: number | undefined
}

/** Removes at most `limit` rows and returns how many went. */
export type Step = (db: Db, now: Date, limit: number) => Promise<number>

export function cleanUpSteps(retention: Retention): Record<string, Step> {
  const { ended, sessionTimebox, sessionInactivity, anonymousUsers, auditLog } = retention
  const afterEnd = (lifetime: number) => lifetime + ended
  return {
    sessions: step(ended, deleteEndedSessions),
    ...(sessionInactivity !== undefined && {
      idle_sessions: step(afterEnd(sessionInactivity), deleteIdleSessions),
    }),
    ...(sessionTimebox !== undefined && {
      boxed_sessions: (db, now, limit) => {
        const openedBefore = ago(now, afterEnd(sessionTimebox))
        return deleteSessionsOpened(db, { openedBefore, usedBefore: ago(now, ended) }, limit)
      },
    }),
    refresh_tokens: step(ended, deleteSpentRefreshTokens),
    one_time_tokens: step(ended, deleteExpiredOneTimeTokens),
    flow_states: step(afterEnd(retention.flow), deleteOldFlowStates),
    throttles: step(afterEnd(retention.limits), deleteOldThrottles),
    send_intervals: step(afterEnd(retention.limits), deleteOldSendIntervals),
    ...(anonymousUsers !== undefined && {
      anonymous_users: step(anonymousUsers, deleteOldAnonymousUsers),
    }),
    ...(auditLog !== undefined && { audit_entries: step(auditLog, deleteOldAuditEntries) }),
  }
}

type Deletion = (db: Db, before: Date, limit: number) => Promise<number>

function step(seconds: number, remove: Deletion): Step {
  return (db, now, limit) => remove(db, ago(now, seconds), limit)
}

function ago(now: Date, seconds: number): Date {
  return new Date(now.getTime() - seconds * 1000)
}
