/**
 * Exchanging a refresh token (RFC 6749 §6) with rotation and reuse detection (RFC 9700 §4.14.2).
 * The ordinary case is one statement; only when that changes no row do we look for the reason.
 */
import type { Db } from '../../../db/database.ts'
import {
  advanceSession,
  deleteSession,
  findSessionById,
  hasNewerSession,
  type SessionRecord,
} from '../../../db/sessions.ts'
import {
  type ApiError,
  conflict,
  refreshTokenAlreadyUsed,
  refreshTokenNotFound,
  sessionExpired,
  userBanned,
  validationFailed,
} from '../../../errors.ts'

import type { Client } from '../../client-ip.ts'
import { cutoff, expiredBy, type SessionPolicy } from './policy.ts'
import { decodeRefreshToken, type RefreshToken } from './refresh-token.ts'
import type { SessionKeys } from './session-key.ts'

export interface RefreshDeps {
  db: Db
  keys: SessionKeys
  policy: SessionPolicy
  audited: boolean
}

export interface Refreshed {
  record: SessionRecord
  key: Buffer
  /** The counter of the token to answer with. */
  counter: number
  outcome: 'rotated' | 'reused'
}

type Outcome = Refreshed | ApiError

/** Returns an error instead of throwing it when the refusal itself had to be written down. */
export async function refreshSession(
  deps: RefreshDeps,
  presented: string,
  client: Client,
  now: Date,
): Promise<Outcome> {
  const token = decodeRefreshToken(presented)
  if (!token) return validationFailed('Refresh token is not valid')
  const derived = deps.keys.findDerived(token)
  const rotated = derived && (await rotate(deps, token, derived, client, now))
  return rotated ?? explain(deps, token, client, now)
}

async function rotate(
  { db, policy, audited }: RefreshDeps,
  token: RefreshToken,
  key: Buffer,
  client: Client,
  now: Date,
): Promise<Refreshed | undefined> {
  const advance = {
    ...client,
    sessionId: token.sessionId,
    counter: token.counter,
    openedAfter: cutoff(policy.timeboxSeconds, now),
    usedAfter: cutoff(policy.inactivitySeconds, now),
    singlePerUser: policy.singlePerUser,
    audited,
  }
  const record = await advanceSession(db, advance, now)
  return record && { record, key, counter: token.counter + 1, outcome: 'rotated' }
}

/** Finds out why the token did not rotate: it was used before, the session ended, or its key is not ours. */
async function explain(
  deps: RefreshDeps,
  token: RefreshToken,
  client: Client,
  now: Date,
): Promise<Outcome> {
  const record = await findSessionById(deps.db, token.sessionId)
  if (!record?.refresh_token_hmac_key) return refreshTokenNotFound()
  const key = deps.keys.open(token.sessionId, record.refresh_token_hmac_key)
  if (!token.isSignedWith(key)) return validationFailed('Refresh token is not valid')
  const refusal = await findRefusal(deps, record, now)
  if (refusal) return refusal

  const distance = (record.refresh_token_counter ?? 0) - token.counter
  if (distance < 0) {
    return validationFailed('Invalid Refresh Token: Not Issued By This Server')
  }
  // A session taken over from a peer has a key of its own, so its first attempt is this one.
  if (distance === 0) return (await rotate(deps, token, key, client, now)) ?? conflict()
  if (isTolerated(deps.policy, record, distance, now)) {
    return { record, key, counter: token.counter + distance, outcome: 'reused' }
  }
  if (deps.policy.rotation) await deleteSession(deps.db, record.id, record.session_id)
  return refreshTokenAlreadyUsed()
}

async function findRefusal({ db, policy }: RefreshDeps, record: SessionRecord, now: Date) {
  if (record.deleted_at) return refreshTokenNotFound()
  if (record.banned_until && record.banned_until > now) {
    return userBanned(400, 'Invalid Refresh Token: User Banned')
  }
  const limit = expiredBy(record, policy, now)
  if (limit) return sessionExpired(limit === 'inactivity' ? 'Inactivity' : '')
  if (policy.singlePerUser && (await hasNewerSession(db, record.session_id))) {
    return sessionExpired('Revoked by Newer Login')
  }
  return undefined
}

/** Only the immediately previous token, and only for as long as a lost answer explains its return. */
function isTolerated(policy: SessionPolicy, record: SessionRecord, distance: number, now: Date) {
  if (distance !== 1) return false
  const age = now.getTime() - (record.refreshed_at ?? now).getTime()
  return policy.reuseUntilUsed || age <= policy.reuseIntervalSeconds * 1000
}
