/**
 * Refresh with a token of the counter format, with rotation and reuse detection (RFC 9700 §4.14.2). The ordinary case
 * is one statement; the reason of a failure is looked up only when it changes no row.
 */
import type { KeyObject } from 'node:crypto'

import { storeEncryptedRefreshKey } from '../../db/sessions/counters.ts'
import { findSessionById } from '../../db/sessions/find-session.ts'
import { hasLegacyTokens } from '../../db/sessions/legacy-tokens.ts'
import { rotateCounterToken } from '../../db/sessions/rotate.ts'
import type { TokenSession } from '../../db/sessions/sessions.ts'
import { raisedBy, wasSteppedUpLast } from '../../db/sessions/step-up.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import {
  conflict,
  organizationNotFound,
  refreshTokenAlreadyUsed,
  refreshTokenNotFound,
  validationFailed,
} from '../../schemas/errors.ts'
import { organizationScope } from './organization-scope.ts'
import { findRefreshError } from './refresh-errors.ts'
import { decodeRefreshToken, encodeRefreshToken, type RefreshToken } from './refresh-token.ts'
import { revokeForReuse } from './reuse.ts'
import type { Presenter, RefreshDeps, RotationOutcome, RotationResult } from './rotation.ts'
import { decryptKey, encryptKey, findDerivedKey, isEncryptedKey } from './session-key.ts'

export async function refreshWithCounterToken(
  deps: RefreshDeps,
  presented: string,
  clientInfo: Presenter,
  now: Date,
): Promise<RotationOutcome> {
  const token = decodeRefreshToken(presented)
  if (!token) return validationFailed('Refresh token is not valid')
  const derived = findDerivedKey(deps, token)
  const rotated = derived && (await rotate(deps, token, derived, clientInfo, now))
  return rotated ?? findRotationError(deps, token, clientInfo, now)
}

async function rotate(
  deps: RefreshDeps,
  { sessionId, counter }: RefreshToken,
  key: KeyObject,
  { userAgent, ip, oauthClientId, organizationId }: Presenter,
  now: Date,
): Promise<RotationResult | undefined> {
  const { db, audit } = deps
  const policy = deps.bearerAuth.sessionPolicy
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
    scope: organizationScope(deps, organizationId),
  }
  const record = await rotateCounterToken(db, advance, now)
  if (!record) return undefined
  return { record, token: encodeRefreshToken(sessionId, counter + 1, key), outcome: 'rotated' }
}

/** Concurrent requests with the same token, here or at a GoTrue that shares the database, may each rotate it first. */
const maxAttempts = 3

/** Finds why the token was not rotated: it was used before, the session has ended, or its key is not derived. */
async function findRotationError(
  deps: RefreshDeps,
  token: RefreshToken,
  clientInfo: Presenter,
  now: Date,
): Promise<RotationOutcome> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const outcome = await findRotationErrorOnce(deps, token, clientInfo, now)
    if (outcome) return outcome
  }
  return conflict()
}

/** Undefined when the token was valid and another request rotated it since. */
async function findRotationErrorOnce(
  deps: RefreshDeps,
  token: RefreshToken,
  clientInfo: Presenter,
  now: Date,
): Promise<RotationOutcome | undefined> {
  const { sessionId } = token
  const scope = organizationScope(deps, clientInfo.organizationId)
  const record = await findSessionById(deps.db, sessionId, scope)
  const stored = record?.refresh_token_hmac_key
  if (!record || !stored) return refreshTokenNotFound()
  const key = decryptKey(deps, sessionId, stored)
  if (!token.isSignedWith(key)) return validationFailed('Refresh token is not valid')
  const refreshError = await findRefreshError(deps, record, clientInfo, now)
  if (refreshError) return refreshError

  const counter = record.refresh_token_counter ?? 0
  const distance = counter - token.counter
  if (distance < 0) {
    return validationFailed('Invalid Refresh Token: Not Issued By This Server')
  }
  if (distance === 0 && clientInfo.organizationId && !record.organization) {
    return organizationNotFound()
  }
  if (distance === 0) return rotateForeign(deps, { token, key, stored }, clientInfo, now)
  const isInTime = deps.bearerAuth.sessionPolicy.toleratesReuse(record.refreshed_at ?? now, now)
  if (distance === 1 && (isInTime || (await isGotrueSession(deps, token, sessionId)))) {
    return { record, token: encodeRefreshToken(sessionId, counter, key), outcome: 'reused' }
  }
  if (distance === raisedBy && (await isParentOfSteppedUp(deps, record, now))) {
    return { record, token: encodeRefreshToken(sessionId, counter, key), outcome: 'reused' }
  }
  await revokeForReuse(deps, record, clientInfo, now)
  return refreshTokenAlreadyUsed()
}

/**
 * A second browser tab may refresh while the first verifies a factor. Within the reuse interval its token is the parent
 * of the first tab's; afterwards, and with AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED as well, it is reuse.
 */
export async function isParentOfSteppedUp(
  { bearerAuth, db }: Deps<'bearerAuth' | 'db'>,
  { session_id: sessionId, refreshed_at }: TokenSession,
  now: Date,
): Promise<boolean> {
  const isInTime = bearerAuth.sessionPolicy.isInReuseInterval(refreshed_at ?? now, now)
  return isInTime && (await wasSteppedUpLast(db, sessionId))
}

/** Clients of sessions created by GoTrue may rely on this: a lost response is repeated, however late. */
async function isGotrueSession(
  deps: RefreshDeps,
  token: RefreshToken,
  sessionId: string,
): Promise<boolean> {
  return !findDerivedKey(deps, token) || hasLegacyTokens(deps.db, sessionId)
}

/** A session created by GoTrue has a random key, possibly in plain text. */
async function rotateForeign(
  deps: RefreshDeps,
  { token, key, stored }: { token: RefreshToken; key: KeyObject; stored: string },
  clientInfo: Presenter,
  now: Date,
): Promise<RotationOutcome | undefined> {
  const rotated = await rotate(deps, token, key, clientInfo, now)
  if (rotated && !isEncryptedKey(deps, stored)) {
    const encrypted = encryptKey(deps, token.sessionId, key)
    await storeEncryptedRefreshKey(deps.db, token.sessionId, stored, encrypted)
  }
  return rotated
}
