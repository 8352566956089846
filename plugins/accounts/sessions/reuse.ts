/** A token that was used before is presented again: two clients hold it, and nothing tells which of them is the owner. */
import type { SessionRecord } from '../../../db/sessions.ts'
import type { Client } from '../../client-ip.ts'
import type { House } from '../../define-plugin.ts'
import { end } from './end.ts'

/** Ends the session, and with it every token that came from the stolen one (RFC 9700 §4.14.2). */
export async function revokeForReuse(
  house: House<'audit' | 'bearerAuth' | 'db' | 'emails' | 'events'>,
  record: SessionRecord,
  { ip }: Client,
  now: Date,
): Promise<void> {
  if (!house.bearerAuth.sessionPolicy.rotation) return
  const traits = { session_id: record.session_id, reason: 'refresh token reused' }
  await house.db.transaction().execute(async (trx) => {
    if (!(await end(house, trx, record.id, record.session_id, now))) return
    await house.audit.record(trx, 'token_revoked', record, { ip: ip ?? '', now, traits })
    const alert = { kind: 'refresh_token_reused_notification' } as const
    await house.emails.notify(trx, record, alert, now)
  })
}
