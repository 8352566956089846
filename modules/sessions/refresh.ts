/** Refreshes a session with a token of either format (RFC 6749 §6). */
import type { FastifyInstance } from 'fastify'

import { undoRotation } from '../../db/sessions/rotate.ts'
import { ApiError, organizationNotFound } from '../../schemas/errors.ts'
import type { Session } from '../../schemas/session.ts'
import { refreshWithCounterToken } from './counter-token.ts'
import { maxLegacyTokenLength, refreshWithLegacyToken } from './legacy-token.ts'
import type { Presenter, RotationOutcome, RotationResult } from './rotation.ts'
import { type GrantedScope, toSession } from './token-response.ts'

/**
 * Returns the session with its new tokens. Throws validation_failed, refresh_token_not_found,
 * refresh_token_already_used, session_expired, user_banned, conflict, token_too_large or HookError; writes of a
 * rejection are committed before.
 */
export async function refreshSession(
  app: FastifyInstance,
  presented: string,
  clientInfo: Presenter,
  now: Date,
  scope: GrantedScope = {},
): Promise<Session> {
  const isLegacy = presented.length <= maxLegacyTokenLength
  const exchange = isLegacy ? refreshWithLegacyToken : refreshWithCounterToken
  const exchanged = await exchange(app, presented, clientInfo, now)
  app.telemetry.metrics.count('postern.token_refreshes', { outcome: getOutcomeName(exchanged) })
  if (exchanged instanceof ApiError) throw exchanged
  return buildResponse(app, exchanged, clientInfo, now, scope)
}

/** Reverts the rotation when no response can be built: a retry of the client would be treated as reuse. */
async function buildResponse(
  app: FastifyInstance,
  { record, token, outcome }: RotationResult,
  { ip, organizationId }: Presenter,
  now: Date,
  scope: GrantedScope,
): Promise<Session> {
  if (organizationId && !record.organization) throw organizationNotFound()
  const method = 'token_refresh'
  const session = { ...record, ...scope }
  const facts = { user: record, session, refreshToken: token, method, ip }
  try {
    return await toSession(app, facts, now)
  } catch (error) {
    if (outcome === 'rotated') await undoRotation(app.db, record)
    throw error
  }
}

/** The outcome label of the metric. */
function getOutcomeName(outcome: RotationOutcome): string {
  if (!(outcome instanceof ApiError)) return outcome.outcome
  return outcome.errorCode === 'refresh_token_already_used' ? 'reuse_detected' : 'rejected'
}
