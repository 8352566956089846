/**
 * Exchanging a refresh token (RFC 6749 §6) with rotation and reuse detection (RFC 9700 §4.14.2).
 * The ordinary case is one statement; only when that changes no row do we look for the reason.
 */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../../db/database.ts'
import { advanceSession, sealRefreshTokenKey } from '../../../db/session-refresh.ts'
import { findSessionById, type SessionRecord } from '../../../db/sessions.ts'
import {
  type ApiError,
  conflict,
  refreshTokenAlreadyUsed,
  refreshTokenNotFound,
  validationFailed,
} from '../../../errors.ts'

import type { Client } from '../../client-ip.ts'
import type { SessionPolicy } from '../../session-policy.ts'
import { decodeRefreshToken, encodeRefreshToken, type RefreshToken } from './refresh-token.ts'
import { findRefusal } from './refusal.ts'
import { revokeForReuse } from './reuse.ts'
import type { SessionKeys } from './session-key.ts'

export interface RefreshDeps {
  db: Db
  keys: SessionKeys
  policy: SessionPolicy
  audit: Pick<FastifyInstance['audit'], 'record' | 'stored'>
}

export interface Refreshed {
  record: SessionRecord
  /** The token to answer with. */
  token: string
  outcome: 'rotated' | 'reused'
}

/** A refusal is returned, not thrown, because it may have had something to write down. */
export type Outcome = Refreshed | ApiError

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
  { db, policy, audit }: RefreshDeps,
  { sessionId, counter }: RefreshToken,
  key: Buffer,
  { userAgent, ip }: Client,
  now: Date,
): Promise<Refreshed | undefined> {
  const advance = {
    userAgent,
    ip,
    sessionId,
    counter,
    openedAfter: policy.openedAfter(now),
    usedAfter: policy.usedAfter(now),
    singlePerUser: policy.singlePerUser,
    tags: policy.tags,
    audited: audit.stored,
  }
  const record = await advanceSession(db, advance, now)
  if (!record) return undefined
  return { record, token: encodeRefreshToken(sessionId, counter + 1, key), outcome: 'rotated' }
}

/** Finds out why the token did not rotate: it was used before, the session ended, or its key is not ours. */
async function explain(
  deps: RefreshDeps,
  token: RefreshToken,
  client: Client,
  now: Date,
): Promise<Outcome> {
  const { sessionId } = token
  const record = await findSessionById(deps.db, sessionId)
  const stored = record?.refresh_token_hmac_key
  if (!record || !stored) return refreshTokenNotFound()
  const key = deps.keys.open(sessionId, stored)
  if (!token.isSignedWith(key)) return validationFailed('Refresh token is not valid')
  const refusal = await findRefusal(deps, record, now)
  if (refusal) return refusal

  const counter = record.refresh_token_counter ?? 0
  const distance = counter - token.counter
  if (distance < 0) {
    return validationFailed('Invalid Refresh Token: Not Issued By This Server')
  }
  if (distance === 0) return rotateForeign(deps, { token, key, stored }, client, now)
  if (distance === 1 && deps.policy.toleratesReuse(record.refreshed_at ?? now, now)) {
    return { record, token: encodeRefreshToken(sessionId, counter, key), outcome: 'reused' }
  }
  await revokeForReuse(deps, record, client, now)
  return refreshTokenAlreadyUsed()
}

/** A session taken over from a peer has a key of its own, which may still lie there in clear. */
async function rotateForeign(
  deps: RefreshDeps,
  { token, key, stored }: { token: RefreshToken; key: Buffer; stored: string },
  client: Client,
  now: Date,
): Promise<Outcome> {
  const rotated = await rotate(deps, token, key, client, now)
  if (!rotated) return conflict()
  if (!deps.keys.isSealed(stored)) {
    const sealed = deps.keys.seal(token.sessionId, key)
    await sealRefreshTokenKey(deps.db, token.sessionId, stored, sealed)
  }
  return rotated
}
