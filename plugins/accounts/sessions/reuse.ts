/** A token that was used before comes back: two hold it, and nobody can say which of them is the owner. */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../../db/database.ts'
import { deleteSession, type SessionRecord } from '../../../db/sessions.ts'

import type { Client } from '../../client-ip.ts'
import type { SessionPolicy } from '../../session-policy.ts'

interface ReuseDeps {
  db: Db
  policy: SessionPolicy
  audit: Pick<FastifyInstance['audit'], 'record'>
}

/** Ends the session, and with it every token that came from the stolen one (RFC 9700 §4.14.2). */
export async function revokeForReuse(
  { db, policy, audit }: ReuseDeps,
  record: SessionRecord,
  { ip }: Client,
  now: Date,
): Promise<void> {
  if (!policy.rotation) return
  const isDeleted = await deleteSession(db, record.id, record.session_id)
  if (!isDeleted) return
  const traits = { session_id: record.session_id, reason: 'refresh token reused' }
  await audit.record(db, 'token_revoked', record, { ip: ip ?? '', now, traits })
}
