/** What is old: each step removes one kind of row, by how long ago it ended. */
import {
  deleteAbandonedFactors,
  deleteEndedSessions,
  deleteExpiredSessions,
  deleteOldAnonymousUsers,
  deleteOldAuditEntries,
  deleteOldChallenges,
  deleteOldFlowStates,
  deleteOldKnownDevices,
  deleteOldSendIntervals,
  deleteOldSignInDevices,
  deleteOldThrottles,
  deleteSpentRefreshTokens,
  type Pages,
} from '../../db/clean-up.ts'
import type { Db } from '../../db/database.ts'
import { deleteSupersededSessions } from '../../db/newer-session.ts'
import { deleteExpiredPasskeyChallenges } from '../../db/passkey-clean-up.ts'
import { deleteOldPendingSignUps } from '../../db/pending-sign-ups.ts'
import { countPages } from '../../db/table-pages.ts'
import { deleteExpiredOneTimeTokens } from '../../db/token-clean-up.ts'

/** Seconds. */
export interface Retention {
  /** For what ends by itself or is spent, counted from its end. */
  ended: number
  sessionTimebox: number | undefined
  sessionInactivity: number | undefined
  /** Where a person has one session of each of these kinds, and the last one counts. */
  singlePerUser: { tags: readonly string[] } | undefined
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

/** Half a year: whoever comes back later waits with strangers, if there are any, and is told of the device as new. */
const knownDeviceSeconds = 180 * 86_400

/** Removes old rows batch by batch, of about `batchSize`, and tells how many went with each. */
export type Step = (db: Db, now: Date, batchSize: number) => AsyncIterable<number>

export function cleanUpSteps(retention: Retention): Record<string, Step> {
  const { ended, sessionTimebox, sessionInactivity, anonymousUsers, auditLog } = retention
  const hasSessionLimits = sessionTimebox !== undefined || sessionInactivity !== undefined
  return {
    ended_sessions: step(ended, deleteEndedSessions),
    ...(hasSessionLimits && { expired_sessions: expiredSessions(retention) }),
    ...(retention.singlePerUser && { superseded_sessions: supersededSessions(retention) }),
    refresh_tokens: spentRefreshTokens(retention),
    one_time_tokens: step(ended, (db, expiredBefore, limit) => {
      const madeBefore = ago(expiredBefore, retention.flow)
      return deleteExpiredOneTimeTokens(db, { expiredBefore, madeBefore }, limit)
    }),
    passkey_challenges: step(ended, deleteExpiredPasskeyChallenges),
    flow_states: step(retention.flow + ended, deleteOldFlowStates),
    factor_challenges: step(retention.challenge + ended, deleteOldChallenges),
    abandoned_factors: step(retention.factor + ended, deleteAbandonedFactors),
    pending_sign_ups: step(retention.flow + ended, deleteOldPendingSignUps),
    throttles: step(retention.limits + ended, deleteOldThrottles),
    known_devices: step(knownDeviceSeconds, deleteOldKnownDevices),
    sign_in_devices: step(knownDeviceSeconds, deleteOldSignInDevices),
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

/** A page holds some dozens of sessions, or of refresh tokens. */
const rowsPerPage = 30

/** Once through the table. */
function spentRefreshTokens({ ended }: Retention): Step {
  return async function* (db, now, batchSize) {
    for await (const pages of rangesOf(db, 'refresh_tokens', batchSize)) {
      yield await deleteSpentRefreshTokens(db, ago(now, ended), pages)
    }
  }
}

/** Once through the table. */
function expiredSessions({ ended, sessionTimebox, sessionInactivity }: Retention): Step {
  return async function* (db, now, batchSize) {
    const before = (limit: number | undefined) =>
      limit === undefined ? null : ago(now, limit + ended)
    const age = { openedBefore: before(sessionTimebox), usedBefore: before(sessionInactivity) }
    for await (const pages of rangesOf(db, 'sessions', batchSize)) {
      yield await deleteExpiredSessions(db, age, pages)
    }
  }
}

/** Once through the table. */
function supersededSessions({ ended, sessionTimebox, singlePerUser }: Retention): Step {
  return async function* (db, now, batchSize) {
    const openedAfter = sessionTimebox === undefined ? null : ago(now, sessionTimebox)
    const kind = { tags: singlePerUser?.tags ?? [], openedAfter }
    const times = { usedBefore: ago(now, ended), now }
    for await (const pages of rangesOf(db, 'sessions', batchSize)) {
      yield await deleteSupersededSessions(db, kind, times, pages)
    }
  }
}

async function* rangesOf(
  db: Db,
  table: 'refresh_tokens' | 'sessions',
  batchSize: number,
): AsyncIterable<Pages> {
  const range = Math.ceil(batchSize / rowsPerPage)
  const pages = await countPages(db, table)
  for (let from = 0; from < pages; from += range) yield { from, to: from + range }
}

function ago(now: Date, seconds: number): Date {
  return new Date(now.getTime() - seconds * 1000)
}
