/** Finds sessions without changing them: by a refresh token, for revocation and introspection, and those of a user. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import { findRefreshToken } from '../../db/sessions/legacy-tokens.ts'
import {
  findSessionById,
  findSessions,
  type SessionRow,
  type TokenSession,
} from '../../db/sessions/sessions.ts'
import { maxLegacyTokenLength } from './legacy-token.ts'
import { decodeRefreshToken, decryptKey } from './refresh-token.ts'

interface FoundToken {
  session: TokenSession
  /** The token is unused and the current one. */
  isCurrent: boolean
}

/** Undefined for a foreign token, or one whose session has ended. */
export async function findSessionByRefreshToken(
  app: FastifyInstance,
  presented: string,
): Promise<FoundToken | undefined> {
  if (presented.length <= maxLegacyTokenLength) return findByRow(app, presented)
  const token = decodeRefreshToken(presented)
  const session = token && (await findSessionById(app.db, token.sessionId))
  const stored = session?.refresh_token_hmac_key
  if (!token || !session || !stored) return undefined
  if (!token.isSignedWith(decryptKey(app, session.session_id, stored))) return undefined
  return { session, isCurrent: token.counter === (session.refresh_token_counter ?? 0) }
}

async function findByRow(
  { db }: FastifyInstance,
  presented: string,
): Promise<FoundToken | undefined> {
  const row = await findRefreshToken(db, presented)
  const session = row?.session_id ? await findSessionById(db, row.session_id) : undefined
  return row && session && { session, isCurrent: row.revoked !== true }
}

/** The user's sessions that can be refreshed, last used first. */
export async function listSessions(
  { bearerAuth }: FastifyInstance,
  db: Db,
  userId: string,
  now: Date,
): Promise<SessionRow[]> {
  const { sessionPolicy: policy } = bearerAuth
  const kind = { tags: policy.tags, openedAfter: policy.openedAfter(now), now }
  const sessions = await findSessions(db, userId, policy.singlePerUser ? kind : undefined)
  return sessions.filter((session) => policy.expiredBy(session, now) === undefined)
}
