/** The steps of the cleanup: each deletes one kind of row, a given time after it expired. */
import {
  deleteAbandonedFactors,
  deleteAnonymousUser,
  deleteEndedSessions,
  deleteExpiredOneTimeTokens,
  deleteExpiredPasskeyChallenges,
  deleteExpiredSessions,
  deleteOldAnonymousUsers,
  deleteOldAuditEntries,
  deleteOldChallenges,
  deleteOldFlowStates,
  deleteOldKnownDevices,
  deleteOldSendIntervals,
  deleteOldSignInDevices,
  deleteOldThrottles,
  deleteRevokedRefreshTokens,
  listOldAnonymousUsers,
} from '../../../db/cleanup/cleanup.ts'
import type { Db } from '../../../db/core/database.ts'
import { isForeignKeyViolation } from '../../../db/core/errors.ts'
import { countPages, type PagedQuery } from '../../../db/core/paging.ts'
import { deleteOldConsumedCodes } from '../../../db/flows/flow-states.ts'
import { deleteOldSendQuotas } from '../../../db/limits/send-quotas.ts'
import {
  deleteOldAuthorizations,
  deleteOldDeviceCodes,
  deleteOldPageSessions,
  deleteOldPageSubmissions,
  deleteOldPushedRequests,
  deleteUngrantedClients,
  deleteUnusedClients,
} from '../../../db/oauth-server/cleanup.ts'
import { deleteExpiredReplays } from '../../../db/replays/replays.ts'
import { deleteOldSamlLogouts } from '../../../db/saml/logins.ts'
import { deleteOldRelayStates } from '../../../db/saml/relay-states.ts'
import { deleteSupersededSessions } from '../../../db/sessions/refreshable.ts'
import { deleteOldUsageCounts } from '../../../db/statistics/statistics.ts'
import { deleteExpiredUsernames } from '../../../db/usernames/usernames.ts'
import { deleteOldPendingSignUps } from '../../../db/users/pending-sign-ups.ts'

/** The console shows the last 30 days. */
const usageSeconds = 32 * 86_400

/** Durations in seconds. */
export interface Retention {
  /** After the expiry or consumption of a row. */
  ended: number
  sessionTimebox: number | undefined
  sessionInactivity: number | undefined
  /** Set when a user may have one session per tag and only the newest counts. */
  singlePerUser: { tags: readonly string[] } | undefined
  /** The maximum duration of a flow from its start to the expiry of its code; no link is valid longer. */
  flow: number
  /** Until a second-factor challenge and an unconfirmed factor have expired. */
  challenge: number
  factor: number
  /** How long failures count towards the daily limit. */
  throttles: number
  /** The maximum time for which the last message to an address limits the next one. */
  limits: number
  /** The maximum period of a quota of messages. */
  quotas: number
  anonymousUsers: number | undefined
  auditLog: number | undefined
}

/** Half a year: a user who returns later is throttled and notified as on a new device. */
const knownDeviceSeconds = 180 * 86_400

/** Dynamically registered clients that were not used for this long are deleted. */
const unusedClientSeconds = 90 * 86_400
/** Those to which no user ever consented. */
const ungrantedClientSeconds = 14 * 86_400

/** Deletes expired rows in batches of about `batchSize`, and yields the count of each batch. */
type CleanupStep = (db: Db, now: Date, batchSize: number) => AsyncIterable<number>

export function cleanupTasks(retention: Retention): Record<string, CleanupStep> {
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
    replays: step(ended, deleteExpiredReplays),
    usernames: step(ended, deleteExpiredUsernames),
    usage_counts: step(usageSeconds, deleteOldUsageCounts),
    saml_relay_states: step(retention.flow + ended, deleteOldRelayStates),
    saml_logouts: step(retention.flow + ended, deleteOldSamlLogouts),
    flow_states: step(retention.flow + ended, deleteOldFlowStates),
    consumed_codes: step(retention.flow + ended, deleteOldConsumedCodes),
    oauth_authorizations: step(ended, deleteOldAuthorizations),
    oauth_pushed_requests: step(ended, deleteOldPushedRequests),
    oauth_device_codes: step(ended, deleteOldDeviceCodes),
    page_sessions: step(ended, deleteOldPageSessions),
    page_submissions: step(0, deleteOldPageSubmissions),
    unused_oauth_clients: step(unusedClientSeconds, deleteUnusedClients),
    ungranted_oauth_clients: step(ungrantedClientSeconds, deleteUngrantedClients),
    factor_challenges: step(retention.challenge + ended, deleteOldChallenges),
    abandoned_factors: step(retention.factor + ended, deleteAbandonedFactors),
    pending_sign_ups: step(retention.flow + ended, deleteOldPendingSignUps),
    throttles: step(retention.throttles + ended, deleteOldThrottles),
    known_devices: step(knownDeviceSeconds, deleteOldKnownDevices),
    sign_in_devices: step(knownDeviceSeconds, deleteOldSignInDevices),
    send_intervals: step(retention.limits + ended, deleteOldSendIntervals),
    send_quotas: step(retention.quotas + ended, deleteOldSendQuotas),
    ...(anonymousUsers !== undefined && {
      anonymous_users: step(anonymousUsers, deleteUnreferenced),
    }),
    ...(auditLog !== undefined && { audit_entries: step(auditLog, deleteOldAuditEntries) }),
  }
}

type Deletion = (db: Db, before: Date, limit: number) => Promise<number>

/**
 * When rows of the operator's own tables reference some of them, rows are deleted one by one, and the referenced ones
 * are kept.
 */
async function deleteUnreferenced(db: Db, createdBefore: Date, limit: number): Promise<number> {
  try {
    return await deleteOldAnonymousUsers(db, createdBefore, limit)
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
  }
  let removed = 0
  for (const id of await listOldAnonymousUsers(db, createdBefore, limit)) {
    const isGone = await deleteAnonymousUser(db, id).catch((error: unknown) => {
      if (isForeignKeyViolation(error)) return false
      throw error
    })
    if (isGone) removed += 1
  }
  return removed
}

/** Deletes the oldest rows first, until a batch is not full. */
function step(seconds: number, remove: Deletion): CleanupStep {
  return async function* (db, now, batchSize) {
    let removed: number
    do {
      removed = await remove(db, ago(now, seconds), batchSize)
      yield removed
    } while (removed === batchSize)
  }
}

/** A table page holds some dozens of sessions or refresh tokens. */
const rowsPerPage = 30

/** Scans the table once. */
function spentRefreshTokens({ ended }: Retention): CleanupStep {
  return async function* (db, now, batchSize) {
    for await (const pages of iterateRanges(db, 'refresh_tokens', batchSize)) {
      yield await deleteRevokedRefreshTokens(db, ago(now, ended), pages)
    }
  }
}

/** Scans the table once. */
function expiredSessions({ ended, sessionTimebox, sessionInactivity }: Retention): CleanupStep {
  return async function* (db, now, batchSize) {
    const before = (limit: number | undefined) =>
      limit === undefined ? null : ago(now, limit + ended)
    const age = { openedBefore: before(sessionTimebox), usedBefore: before(sessionInactivity) }
    for await (const pages of iterateRanges(db, 'sessions', batchSize)) {
      yield await deleteExpiredSessions(db, age, pages)
    }
  }
}

/** Scans the table once. */
function supersededSessions({ ended, sessionTimebox, singlePerUser }: Retention): CleanupStep {
  return async function* (db, now, batchSize) {
    const openedAfter = sessionTimebox === undefined ? null : ago(now, sessionTimebox)
    const kind = { tags: singlePerUser?.tags ?? [], openedAfter }
    const times = { usedBefore: ago(now, ended), now }
    for await (const pages of iterateRanges(db, 'sessions', batchSize)) {
      yield await deleteSupersededSessions(db, kind, times, pages)
    }
  }
}

async function* iterateRanges(
  db: Db,
  table: 'refresh_tokens' | 'sessions',
  batchSize: number,
): AsyncIterable<PagedQuery> {
  const range = Math.ceil(batchSize / rowsPerPage)
  const pages = await countPages(db, table)
  for (let from = 0; from < pages; from += range) yield { from, to: from + range }
}

function ago(now: Date, seconds: number): Date {
  return new Date(now.getTime() - seconds * 1000)
}
