/**
 * Refresh tokens of GoTrue's older format: random characters, one row each. They are accepted from sessions found
 * in the database. Their session gets counter tokens from then on, unless a GoTrue shares the database: it would refuse
 * the token before, which a second tab or a client that lost the answer may bring to it.
 */
import { randomBytes } from 'node:crypto'

import {
  exchangeRefreshToken,
  findChildToken,
  findRefreshToken,
  isLastSpentToken,
  type RefreshTokenRow,
  rotateRefreshToken,
} from '../../../db/refresh-tokens.ts'
import { findSessionById } from '../../../db/session-look-ups.ts'
import type { TokenSession } from '../../../db/sessions.ts'
import {
  refreshSessionNotFound,
  refreshTokenAlreadyUsed,
  refreshTokenNotFound,
  validationFailed,
} from '../../../errors.ts'
import type { Client } from '../../client-ip.ts'
import type { House } from '../../define-plugin.ts'
import type { ExchangeHouse, Outcome } from './refresh.ts'
import { encodeRefreshToken } from './refresh-token.ts'
import { findRefusal } from './refusal.ts'
import { revokeForReuse } from './reuse.ts'
import { deriveKey, openKey, sealKey } from './session-key.ts'

/** Releases of before 2025 made 22 characters of base64url, others made other forms: what is in the table counts. */
const usualForm = /^[a-z2-7]{12}$/

/** In characters; tokens of the counter format have 51 or more, so that a cut one of those costs no look-up. */
export const longestLegacyToken = 44

export async function exchangeLegacyToken(
  house: ExchangeHouse,
  presented: string,
  client: Client,
  now: Date,
): Promise<Outcome> {
  const token = await findRefreshToken(house.db, presented)
  if (!token) {
    const isUsual = usualForm.test(presented)
    return isUsual ? refreshTokenNotFound() : validationFailed('Refresh token is not valid')
  }
  const record = token.session_id ? await findSessionById(house.db, token.session_id) : undefined
  if (!record) return refreshSessionNotFound()
  const usedAt = record.refreshed_at ?? latest(record.session_created_at, token)
  const refusal = await findRefusal(house, { ...record, refreshed_at: usedAt }, now)
  if (refusal) return refusal
  const staysRow = house.takeover.isShared && record.refresh_token_hmac_key === null
  const next = staysRow ? rotate : exchange
  const exchanged = await next(house, { token, record }, client, now)
  return exchanged ?? answerSpentToken(house, { presented, record }, client, now)
}

interface Presented {
  token: RefreshTokenRow
  record: TokenSession
}

/** Undefined when the token is spent. */
async function rotate(
  { db, audit }: ExchangeHouse,
  { token, record }: Presented,
  { userAgent, ip }: Client,
  now: Date,
): Promise<Outcome | undefined> {
  const child = newToken()
  const spent = { tokenId: token.id, sessionId: record.session_id }
  if (!(await rotateRefreshToken(db, { ...spent, child, userAgent, ip }, now))) return undefined
  await audit.record(db, 'token_refreshed', record, { ip: ip ?? '', now })
  return { record: { ...record, refreshed_at: now }, token: child, outcome: 'rotated' }
}

/** 60 random bits, in GoTrue's form. */
function newToken(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz234567'
  return Array.from(randomBytes(12), (byte) => letters[byte % letters.length]).join('')
}

/** Undefined when the token is spent. */
async function exchange(
  house: ExchangeHouse,
  { token, record }: Presented,
  { userAgent, ip }: Client,
  now: Date,
): Promise<Outcome | undefined> {
  const { db, audit } = house
  const { session_id: sessionId } = record
  const newKey = sealKey(house, sessionId, deriveKey(house, sessionId))
  const spent = { tokenId: token.id, sessionId }
  const state = await exchangeRefreshToken(db, { ...spent, newKey, userAgent, ip }, now)
  if (!state) return undefined
  await audit.record(db, 'token_refreshed', record, { ip: ip ?? '', now })
  const key = openKey(house, sessionId, state.refresh_token_hmac_key)
  const answer = encodeRefreshToken(sessionId, state.refresh_token_counter, key)
  return { record: { ...record, refreshed_at: now }, token: answer, outcome: 'rotated' }
}

/** As GoTrue does it for the sessions that it opened: the token just before the current one may come back at any time. */
async function answerSpentToken(
  house: ExchangeHouse,
  { presented, record }: { presented: string; record: TokenSession },
  client: Client,
  now: Date,
): Promise<Outcome> {
  // Read again: a request that raced with us may have spent it and moved the session just now.
  const token = await findRefreshToken(house.db, presented)
  const current = await findSessionById(house.db, record.session_id)
  if (!token || !current) return refreshTokenNotFound()
  const child = await findChild(house, { token, record: current })
  if (child) return { record: current, token: child, outcome: 'reused' }
  await revokeForReuse(house, current, client, now)
  return refreshTokenAlreadyUsed()
}

/** The unused token that this one was exchanged for. */
async function findChild(house: House<'db' | 'encryption'>, { token, record }: Presented) {
  const { db } = house
  const { session_id, refresh_token_hmac_key: stored, refresh_token_counter: counter } = record
  if (!stored) return findChildToken(db, token)
  if (counter !== 0 || !(await isLastSpentToken(db, token))) return undefined
  return encodeRefreshToken(session_id, 0, openKey(house, session_id, stored))
}

function latest(openedAt: Date | null, { created_at, updated_at }: RefreshTokenRow): Date {
  return new Date(
    Math.max(...[openedAt, created_at, updated_at].map((time) => time?.getTime() ?? 0)),
  )
}
