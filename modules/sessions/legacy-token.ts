/**
 * Refresh tokens of GoTrue's older format: random characters, one row each. Accepted for existing sessions, which get
 * counter tokens from then on, unless GoTrue shares the database: it would reject the previous token, which a second
 * tab or a client that lost the response may send to it.
 */
import { randomBytes } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import {
  findChildToken,
  findRefreshToken,
  isPreviousRefreshToken,
  type RefreshTokenRow,
  rotateLegacyToken,
  rotateRefreshToken,
} from '../../db/sessions/legacy-tokens.ts'
import { findSessionById, type TokenSession } from '../../db/sessions/sessions.ts'
import { raisedBy } from '../../db/sessions/step-up.ts'
import {
  organizationNotFound,
  refreshSessionNotFound,
  refreshTokenAlreadyUsed,
  refreshTokenNotFound,
  validationFailed,
} from '../../schemas/errors.ts'
import { recordAudit } from '../audit/index.ts'
import { isParentOfSteppedUp } from './counter-token.ts'
import { decryptKey, deriveKey, encodeRefreshToken, encryptKey } from './refresh-token.ts'
import {
  findRefreshError,
  identifyHolder,
  organizationScope,
  type Presenter,
  type RotationOutcome,
  revokeForReuse,
} from './rotation.ts'

/** The current form. Tokens of earlier releases had other forms; the table decides. */
const currentForm = /^[a-z2-7]{12}$/

/** In characters; counter tokens have 51 or more, so that a truncated one needs no look-up. */
export const maxLegacyTokenLength = 44

export async function refreshWithLegacyToken(
  app: FastifyInstance,
  presented: string,
  clientInfo: Presenter,
  now: Date,
): Promise<RotationOutcome> {
  const token = await findRefreshToken(app.db, presented)
  if (!token) {
    const isCurrentForm = currentForm.test(presented)
    return isCurrentForm ? refreshTokenNotFound() : validationFailed('Refresh token is not valid')
  }
  const scope = organizationScope(app, clientInfo.organizationId)
  const record = token.session_id
    ? await findSessionById(app.db, token.session_id, scope)
    : undefined
  if (!record) return refreshSessionNotFound()
  identifyHolder(app, record)
  const usedAt = record.refreshed_at ?? latest(record.session_created_at, token)
  const refreshError = await findRefreshError(
    app,
    { ...record, refreshed_at: usedAt },
    clientInfo,
    now,
  )
  if (refreshError) return refreshError
  if (clientInfo.organizationId && !record.organization) return organizationNotFound()
  const keepsLegacyToken = app.gotrueMigration.isShared && record.refresh_token_hmac_key === null
  const next = keepsLegacyToken ? rotate : exchange
  const exchanged = await next(app, { token, record }, clientInfo, now)
  return exchanged ?? handleConsumedToken(app, { presented, record }, clientInfo, now)
}

interface Presented {
  token: RefreshTokenRow
  record: TokenSession
}

/** Undefined when the token was consumed. */
async function rotate(
  { db, audit }: FastifyInstance,
  { token, record }: Presented,
  { userAgent, ip }: Presenter,
  now: Date,
): Promise<RotationOutcome | undefined> {
  const child = newToken()
  const consumed = { tokenId: token.id, sessionId: record.session_id }
  if (!(await rotateRefreshToken(db, { ...consumed, child, userAgent, ip }, now))) return undefined
  await recordAudit(audit, db, 'token_refreshed', record, { ip: ip ?? '', now })
  return { record: { ...record, refreshed_at: now }, token: child, outcome: 'rotated' }
}

/** 60 random bits, in GoTrue's form. */
function newToken(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz234567'
  return Array.from(randomBytes(12), (byte) => letters[byte % letters.length]).join('')
}

/** Undefined when the token was consumed. */
async function exchange(
  app: FastifyInstance,
  { token, record }: Presented,
  { userAgent, ip }: Presenter,
  now: Date,
): Promise<RotationOutcome | undefined> {
  const { db, audit } = app
  const { session_id: sessionId } = record
  const newKey = encryptKey(app, sessionId, deriveKey(app, sessionId))
  const consumed = { tokenId: token.id, sessionId }
  const state = await rotateLegacyToken(db, { ...consumed, newKey, userAgent, ip }, now)
  if (!state) return undefined
  await recordAudit(audit, db, 'token_refreshed', record, { ip: ip ?? '', now })
  const key = decryptKey(app, sessionId, state.refresh_token_hmac_key)
  const counterToken = encodeRefreshToken(sessionId, state.refresh_token_counter, key)
  return { record: { ...record, refreshed_at: now }, token: counterToken, outcome: 'rotated' }
}

/** As GoTrue does for its sessions: the parent of the current token may be reused at any time. */
async function handleConsumedToken(
  app: FastifyInstance,
  { presented, record }: { presented: string; record: TokenSession },
  clientInfo: Presenter,
  now: Date,
): Promise<RotationOutcome> {
  // Read again: a concurrent request may have consumed it and changed the session.
  const token = await findRefreshToken(app.db, presented)
  const scope = organizationScope(app, clientInfo.organizationId)
  const current = await findSessionById(app.db, record.session_id, scope)
  if (!token || !current) return refreshTokenNotFound()
  // A ban or deletion since the first look-up, which has checked the limits of the session.
  const asUsed = { ...current, refreshed_at: now }
  const refreshError = await findRefreshError(app, asUsed, clientInfo, now)
  if (refreshError) return refreshError
  const child = await findChild(app, { token, record: current }, now)
  if (child) return { record: current, token: child, outcome: 'reused' }
  await revokeForReuse(app, current, clientInfo, now)
  return refreshTokenAlreadyUsed()
}

/** The unused child of this token. */
async function findChild(app: FastifyInstance, { token, record }: Presented, now: Date) {
  const { db } = app
  const { session_id, refresh_token_hmac_key: stored, refresh_token_counter: counter } = record
  if (!stored) return findChildToken(db, token)
  const isRaised = counter === raisedBy && (await isParentOfSteppedUp(app, record, now))
  if ((counter !== 0 && !isRaised) || !(await isPreviousRefreshToken(db, token))) return undefined
  return encodeRefreshToken(session_id, counter, decryptKey(app, session_id, stored))
}

function latest(openedAt: Date | null, { created_at, updated_at }: RefreshTokenRow): Date {
  return new Date(
    Math.max(...[openedAt, created_at, updated_at].map((time) => time?.getTime() ?? 0)),
  )
}
