/**
 * Exchanging a refresh token of the counter format, with rotation and reuse detection (RFC 9700 §4.14.2).
 * The ordinary case is one statement; only when that changes no row do we look for the reason.
 */
import type { KeyObject } from 'node:crypto'

import { sealRefreshTokenKey } from '../../../db/refresh-counters.ts'
import { hasLegacyTokens } from '../../../db/refresh-tokens.ts'
import { findSessionById } from '../../../db/session-look-ups.ts'
import { advanceSession } from '../../../db/session-refresh.ts'
import {
  conflict,
  refreshTokenAlreadyUsed,
  refreshTokenNotFound,
  validationFailed,
} from '../../../errors.ts'
import type { Client } from '../../client-ip.ts'
import type { Exchanged, ExchangeHouse, Outcome } from './refresh.ts'
import { decodeRefreshToken, encodeRefreshToken, type RefreshToken } from './refresh-token.ts'
import { findRefusal } from './refusal.ts'
import { revokeForReuse } from './reuse.ts'
import { findDerivedKey, isSealedKey, openKey, sealKey } from './session-key.ts'

export async function exchangeCounterToken(
  house: ExchangeHouse,
  presented: string,
  client: Client,
  now: Date,
): Promise<Outcome> {
  const token = decodeRefreshToken(presented)
  if (!token) return validationFailed('Refresh token is not valid')
  const derived = findDerivedKey(house, token)
  const rotated = derived && (await rotate(house, token, derived, client, now))
  return rotated ?? explain(house, token, client, now)
}

async function rotate(
  { db, bearerAuth: { sessionPolicy: policy }, audit }: ExchangeHouse,
  { sessionId, counter }: RefreshToken,
  key: KeyObject,
  { userAgent, ip }: Client,
  now: Date,
): Promise<Exchanged | undefined> {
  const advance = {
    userAgent,
    ip,
    sessionId,
    counter,
    openedAfter: policy.openedAfter(now),
    usedAfter: policy.usedAfter(now),
    owedAfter: policy.owedAfter(now),
    singlePerUser: policy.singlePerUser,
    tags: policy.tags,
    audited: audit.stored,
  }
  const record = await advanceSession(db, advance, now)
  if (!record) return undefined
  return { record, token: encodeRefreshToken(sessionId, counter + 1, key), outcome: 'rotated' }
}

/** Other requests with the same token, here or at a GoTrue that shares the database, may be quicker each time. */
const maxAttempts = 3

/** Finds out why the token did not rotate: it was used before, the session ended, or its key is not ours. */
async function explain(
  house: ExchangeHouse,
  token: RefreshToken,
  client: Client,
  now: Date,
): Promise<Outcome> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const outcome = await explainOnce(house, token, client, now)
    if (outcome) return outcome
  }
  return conflict()
}

/** Undefined when the token was good and somebody else has exchanged it since. */
async function explainOnce(
  house: ExchangeHouse,
  token: RefreshToken,
  client: Client,
  now: Date,
): Promise<Outcome | undefined> {
  const { sessionId } = token
  const record = await findSessionById(house.db, sessionId)
  const stored = record?.refresh_token_hmac_key
  if (!record || !stored) return refreshTokenNotFound()
  const key = openKey(house, sessionId, stored)
  if (!token.isSignedWith(key)) return validationFailed('Refresh token is not valid')
  const refusal = await findRefusal(house, record, now)
  if (refusal) return refusal

  const counter = record.refresh_token_counter ?? 0
  const distance = counter - token.counter
  if (distance < 0) {
    return validationFailed('Invalid Refresh Token: Not Issued By This Server')
  }
  if (distance === 0) return rotateForeign(house, { token, key, stored }, client, now)
  const isInTime = house.bearerAuth.sessionPolicy.toleratesReuse(record.refreshed_at ?? now, now)
  if (distance === 1 && (isInTime || (await isGotrues(house, token, sessionId)))) {
    return { record, token: encodeRefreshToken(sessionId, counter, key), outcome: 'reused' }
  }
  await revokeForReuse(house, record, client, now)
  return refreshTokenAlreadyUsed()
}

/** A client that GoTrue signed in may count on this: a lost answer is repeated, however late it is asked for. */
async function isGotrues(
  house: ExchangeHouse,
  token: RefreshToken,
  sessionId: string,
): Promise<boolean> {
  return !findDerivedKey(house, token) || hasLegacyTokens(house.db, sessionId)
}

/** A session taken over from GoTrue has a key of its own, which may still be stored in clear. */
async function rotateForeign(
  house: ExchangeHouse,
  { token, key, stored }: { token: RefreshToken; key: KeyObject; stored: string },
  client: Client,
  now: Date,
): Promise<Outcome | undefined> {
  const rotated = await rotate(house, token, key, client, now)
  if (rotated && !isSealedKey(house, stored)) {
    const sealed = sealKey(house, token.sessionId, key)
    await sealRefreshTokenKey(house.db, token.sessionId, stored, sealed)
  }
  return rotated
}
