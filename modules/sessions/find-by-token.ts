/** Looks a session up by its refresh token without rotating it, for revocation and introspection. */
import type { FastifyInstance } from 'fastify'

import { findRefreshToken } from '../../db/sessions/legacy-tokens.ts'
import { findSessionById, type TokenSession } from '../../db/sessions/sessions.ts'
import { maxLegacyTokenLength } from './legacy-token.ts'
import { decodeRefreshToken } from './refresh-token.ts'
import { decryptKey } from './session-key.ts'

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
