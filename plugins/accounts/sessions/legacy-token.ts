/**
 * Refresh tokens of a peer's older format: 12 random characters, one row each. They are accepted from sessions found
 * in the database, and their session gets counter tokens from then on.
 */
import {
  exchangeRefreshToken,
  findChildToken,
  findRefreshToken,
  isLastSpentToken,
  type RefreshTokenRow,
} from '../../../db/refresh-tokens.ts'
import { findSessionById, type SessionRecord } from '../../../db/sessions.ts'
import {
  refreshSessionNotFound,
  refreshTokenAlreadyUsed,
  refreshTokenNotFound,
} from '../../../errors.ts'

import type { Client } from '../../client-ip.ts'
import type { Outcome, RefreshDeps } from './refresh.ts'
import { encodeRefreshToken } from './refresh-token.ts'
import { findRefusal } from './refusal.ts'
import { revokeForReuse } from './reuse.ts'

export const isLegacyToken = (token: string): boolean => /^[a-z2-7]{12}$/.test(token)

export async function exchangeLegacyToken(
  deps: RefreshDeps,
  presented: string,
  client: Client,
  now: Date,
): Promise<Outcome> {
  const token = await findRefreshToken(deps.db, presented)
  if (!token) return refreshTokenNotFound()
  const record = token.session_id ? await findSessionById(deps.db, token.session_id) : undefined
  if (!record) return refreshSessionNotFound()
  const usedAt = record.refreshed_at ?? latest(record.session_created_at, token)
  const refusal = await findRefusal(deps, { ...record, refreshed_at: usedAt }, now)
  if (refusal) return refusal
  const exchanged = await exchange(deps, { token, record }, client, now)
  return exchanged ?? answerSpentToken(deps, { presented, record }, client, now)
}

interface Presented {
  token: RefreshTokenRow
  record: SessionRecord
}

/** Undefined when the token is spent. */
async function exchange(
  { db, keys, audit }: RefreshDeps,
  { token, record }: Presented,
  { userAgent, ip }: Client,
  now: Date,
): Promise<Outcome | undefined> {
  const { session_id: sessionId } = record
  const newKey = keys.seal(sessionId, keys.derive(sessionId))
  const state = await exchangeRefreshToken(db, { tokenId: token.id, newKey, userAgent, ip }, now)
  if (!state) return undefined
  await audit.record(db, 'token_refreshed', record, { ip: ip ?? '', now })
  const key = keys.open(sessionId, state.refresh_token_hmac_key)
  const answer = encodeRefreshToken(sessionId, state.refresh_token_counter, key)
  return { record: { ...record, refreshed_at: now }, token: answer, outcome: 'rotated' }
}

/** The rules of counter tokens, told by rows: the token just before the current one may come back for a while. */
async function answerSpentToken(
  deps: RefreshDeps,
  { presented, record }: { presented: string; record: SessionRecord },
  client: Client,
  now: Date,
): Promise<Outcome> {
  // Read again: a request that raced with us may have spent it and moved the session just now.
  const token = await findRefreshToken(deps.db, presented)
  const current = await findSessionById(deps.db, record.session_id)
  if (!token || !current) return refreshTokenNotFound()
  const isInTime = deps.policy.toleratesReuse(token.updated_at ?? now, now)
  const child = isInTime ? await findChild(deps, { token, record: current }) : undefined
  if (child) return { record: current, token: child, outcome: 'reused' }
  await revokeForReuse(deps, current, client, now)
  return refreshTokenAlreadyUsed()
}

/** The unused token that this one was exchanged for. */
async function findChild({ db, keys }: RefreshDeps, { token, record }: Presented) {
  const { session_id, refresh_token_hmac_key: stored, refresh_token_counter: counter } = record
  if (!stored) return findChildToken(db, token)
  if (counter !== 0 || !(await isLastSpentToken(db, token))) return undefined
  return encodeRefreshToken(session_id, 0, keys.open(session_id, stored))
}

function latest(openedAt: Date | null, { created_at, updated_at }: RefreshTokenRow): Date {
  return new Date(
    Math.max(...[openedAt, created_at, updated_at].map((time) => time?.getTime() ?? 0)),
  )
}
