/** A token that was used before is presented again: two clients hold it, and nothing tells which of them is the owner. */
import { deleteSession, type SessionRecord } from '../../../db/sessions.ts'
import type { Client } from '../../client-ip.ts'
import type { House } from '../../define-plugin.ts'

/** Ends the session, and with it every token that came from the stolen one (RFC 9700 §4.14.2). */
export async function revokeForReuse(
  { db, sessionPolicy, audit }: House<'audit' | 'db' | 'sessionPolicy'>,
  record: SessionRecord,
  { ip }: Client,
  now: Date,
): Promise<void> {
  if (!sessionPolicy.rotation) return
  const isDeleted = await deleteSession(db, record.id, record.session_id)
  if (!isDeleted) return
  const traits = { session_id: record.session_id, reason: 'refresh token reused' }
  await audit.record(db, 'token_revoked', record, { ip: ip ?? '', now, traits })
}
