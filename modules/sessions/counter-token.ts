/**
 * Refresh with a token of the counter format, with rotation and reuse detection (RFC 9700 §4.14.2). The ordinary case
 * is one statement; the reason of a failure is looked up only when it changes no row.
 */
import type { KeyObject } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import { hasLegacyTokens } from '../../db/sessions/legacy-tokens.ts'
import { rotateCounterToken, storeEncryptedRefreshKey } from '../../db/sessions/rotate.ts'
import { findSessionById, type TokenSession } from '../../db/sessions/sessions.ts'
import { raisedBy, wasSteppedUpLast } from '../../db/sessions/step-up.ts'
import {
  conflict,
  organizationNotFound,
  refreshTokenAlreadyUsed,
  refreshTokenNotFound,
  validationFailed,
} from '../../schemas/errors.ts'
import { createAuditEntry } from '../audit/index.ts'
import {
  decodeRefreshToken,
  decryptKey,
  encodeRefreshToken,
  encryptKey,
  findDerivedKey,
  isEncryptedKey,
  type RefreshToken,
} from './refresh-token.ts'
import {
  findRefreshError,
  identifyHolder,
  organizationScope,
  type Presenter,
  type RotationOutcome,
  type RotationResult,
  revokeForReuse,
} from './rotation.ts'

export async function refreshWithCounterToken(
  app: FastifyInstance,
  presented: string,
  clientInfo: Presenter,
  now: Date,
): Promise<RotationOutcome> {
  const token = decodeRefreshToken(presented)
  if (!token) return validationFailed('Refresh token is not valid')
  const derived = findDerivedKey(app, token)
  const rotated = derived && (await rotate(app, token, derived, clientInfo, now))
  return rotated ?? findRotationError(app, token, clientInfo, now)
}

async function rotate(
  app: FastifyInstance,
  { sessionId, counter }: RefreshToken,
  key: KeyObject,
  { userAgent, ip, oauthClientId, organizationId }: Presenter,
  now: Date,
): Promise<RotationResult | undefined> {
  const { db, audit } = app
  const policy = app.bearerAuth.sessionPolicy
  const advance = {
    userAgent,
    ip,
    sessionId,
    counter,
    openedAfter: policy.openedAfter(now),
    usedAfter: policy.usedAfter(now),
    factorRequiredAfter: policy.factorRequiredAfter(now),
    singlePerUser: policy.singlePerUser,
    tags: policy.tags,
    audited: audit.stored,
    clientId: oauthClientId ?? null,
    scope: organizationScope(app, organizationId),
  }
  const record = await rotateCounterToken(db, advance, now)
  if (!record) return undefined
  // The log line is then the only record; otherwise the statement has stored the entry.
  if (!audit.stored) createAuditEntry(audit, 'token_refreshed', record, ip ?? '')
  return { record, token: encodeRefreshToken(sessionId, counter + 1, key), outcome: 'rotated' }
}

/** Concurrent requests with the same token, here or at a GoTrue that shares the database, may each rotate it first. */
const maxAttempts = 3

/** Finds why the token was not rotated: it was used before, the session has ended, or its key is not derived. */
async function findRotationError(
  app: FastifyInstance,
  token: RefreshToken,
  clientInfo: Presenter,
  now: Date,
): Promise<RotationOutcome> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const outcome = await findRotationErrorOnce(app, token, clientInfo, now)
    if (outcome) return outcome
  }
  return conflict()
}

/** Undefined when the token was valid and another request rotated it since. */
async function findRotationErrorOnce(
  app: FastifyInstance,
  token: RefreshToken,
  clientInfo: Presenter,
  now: Date,
): Promise<RotationOutcome | undefined> {
  const { sessionId } = token
  const scope = organizationScope(app, clientInfo.organizationId)
  const record = await findSessionById(app.db, sessionId, scope)
  const stored = record?.refresh_token_hmac_key
  if (!record || !stored) return refreshTokenNotFound()
  const key = decryptKey(app, sessionId, stored)
  if (!token.isSignedWith(key)) return validationFailed('Refresh token is not valid')
  identifyHolder(app, record)
  const refreshError = await findRefreshError(app, record, clientInfo, now)
  if (refreshError) return refreshError

  const counter = record.refresh_token_counter ?? 0
  const distance = counter - token.counter
  if (distance < 0) {
    return validationFailed('Invalid Refresh Token: Not Issued By This Server')
  }
  if (distance === 0 && clientInfo.organizationId && !record.organization) {
    return organizationNotFound()
  }
  if (distance === 0) return rotateForeign(app, { token, key, stored }, clientInfo, now)
  const isInTime = app.bearerAuth.sessionPolicy.toleratesReuse(record.refreshed_at ?? now, now)
  if (distance === 1 && (isInTime || (await isGotrueSession(app, token, sessionId)))) {
    return { record, token: encodeRefreshToken(sessionId, counter, key), outcome: 'reused' }
  }
  if (distance === raisedBy && (await isParentOfSteppedUp(app, record, now))) {
    return { record, token: encodeRefreshToken(sessionId, counter, key), outcome: 'reused' }
  }
  await revokeForReuse(app, record, clientInfo, now)
  return refreshTokenAlreadyUsed()
}

/**
 * A second browser tab may refresh while the first verifies a factor. Within the reuse interval its token is the parent
 * of the first tab's; afterwards, and with AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED as well, it is reuse.
 */
export async function isParentOfSteppedUp(
  { bearerAuth, db }: FastifyInstance,
  { session_id: sessionId, refreshed_at }: TokenSession,
  now: Date,
): Promise<boolean> {
  const isInTime = bearerAuth.sessionPolicy.isInReuseInterval(refreshed_at ?? now, now)
  return isInTime && (await wasSteppedUpLast(db, sessionId))
}

/** Clients of sessions created by GoTrue may rely on this: a lost response is repeated, however late. */
async function isGotrueSession(
  app: FastifyInstance,
  token: RefreshToken,
  sessionId: string,
): Promise<boolean> {
  return !findDerivedKey(app, token) || hasLegacyTokens(app.db, sessionId)
}

/** A session created by GoTrue has a random key, possibly in plain text. */
async function rotateForeign(
  app: FastifyInstance,
  { token, key, stored }: { token: RefreshToken; key: KeyObject; stored: string },
  clientInfo: Presenter,
  now: Date,
): Promise<RotationOutcome | undefined> {
  const rotated = await rotate(app, token, key, clientInfo, now)
  if (rotated && !isEncryptedKey(app, stored)) {
    const encrypted = encryptKey(app, token.sessionId, key)
    await storeEncryptedRefreshKey(app.db, token.sessionId, stored, encrypted)
  }
  return rotated
}
