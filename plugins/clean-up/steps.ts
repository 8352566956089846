/** What is old: each step removes one kind of row, by how long ago it ended. */
import {
  countSessionPages,
  deleteAbandonedFactors,
  deleteEndedSessions,
  deleteExpiredSessions,
  deleteOldAnonymousUsers,
  deleteOldAuditEntries,
  deleteOldChallenges,
  deleteOldFlowStates,
  deleteOldKnownDevices,
  deleteOldPendingSignUps,
  deleteOldSendIntervals,
  deleteOldThrottles,
  deleteSpentRefreshTokens,
} from '../../db/clean-up.ts'
import type { Db } from '../../db/database.ts'
import { deleteExpiredPasskeyChallenges } from '../../db/passkey-clean-up.ts'
import { deleteExpiredOneTimeTokens } from '../../db/token-clean-up.ts'

/** Seconds. */
export interface Retention {
  /** For what ends by itself or is spent, counted from its end. */
  ended: number
  sessionTimebox: number | undefined
  sessionInactivity: number | undefined
  /** The longest a flow can take from its start to the end of its code; no link lives longer. */
  flow: number
  /** Until a challenge of a second factor can no longer be answered, and until an unconfirmed factor has expired. */
  challenge: number
  factor: number
  /** The longest time during which failures or the last message to an address matter. */
  limits: number
  anonymousUsers: number | undefined
  auditLog: number | undefined
}

/** Half a year: whoever comes back later waits with strangers, if there are any. */
const knownDeviceSeconds = 180 * 86_400

/** Removes old rows batch by batch, of about `batchSize`, and tells how many went with each. */
export type Step = (db: Db, now: Date, batchSize: number) => AsyncIterable<number>

export function cleanUpSteps(retention: Retention): Record<string, Step> {
  const { ended, sessionTimebox, sessionInactivity, anonymousUsers, auditLog } = retention
  const hasSessionLimits = sessionTimebox !== undefined || sessionInactivity !== undefined
  return {
    ended_sessions: step(ended, deleteEndedSessions),
    ...(hasSessionLimits && { expired_sessions: expiredSessions(retention) }),
    refresh_tokens: step(ended, deleteSpentRefreshTokens),
    one_time_tokens: step(ended, deleteExpiredOneTimeTokens),
    passkey_challenges: step(ended, deleteExpiredPasskeyChallenges),
    flow_states: step(retention.flow + ended, deleteOldFlowStates),
    factor_challenges: step(retention.challenge + ended, deleteOldChallenges),
    abandoned_factors: step(retention.factor + ended, deleteAbandonedFactors),
    pending_sign_ups: step(retention.flow + ended, deleteOldPendingSignUps),
    throttles: step(retention.limits + ended, deleteOldThrottles),
    known_devices: step(knownDeviceSeconds, deleteOldKnownDevices),
    send_intervals: step(retention.limits + ended, deleteOldSendIntervals),
    ...(anonymousUsers !== undefined && {
      anonymous_users: step(anonymousUsers, deleteOldAnonymousUsers),
    }),
    ...(auditLog !== undefined && { audit_entries: step(auditLog, deleteOldAuditEntries) }),
  }
}

type Deletion = (db: Db, before: Date, limit: number) => Promise<number>

/** The oldest first, until a batch is not full. */
function step(seconds: number, remove: Deletion): Step {
  return async function* (db, now, batchSize) {
    let removed: number
    do {
      removed = await remove(db, ago(now, seconds), batchSize)
      yield removed
    } while (removed === batchSize)
  }
}

/** A page holds some dozens of sessions. */
const sessionsPerPage = 30

/** Once through the table. */
function expiredSessions({ ended, sessionTimebox, sessionInactivity }: Retention): Step {
  return async function* (db, now, batchSize) {
    const before = (limit: number | undefined) =>
      limit === undefined ? null : ago(now, limit + ended)
    const age = { openedBefore: before(sessionTimebox), usedBefore: before(sessionInactivity) }
    const range = Math.ceil(batchSize / sessionsPerPage)
    const pages = await countSessionPages(db)
    for (let from = 0; from < pages; from += range) {
      yield await deleteExpiredSessions(db, age, { from, to: from + range })
    }
  }
}

function ago(now: Date, seconds: number): Date {
  return new Date(now.getTime() - seconds * 1000)
}
