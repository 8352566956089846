/** Refresh token reuse: two clients have the token, and it is unknown which one is the owner's. */
import type { FastifyInstance } from 'fastify'

import type { SessionRecord } from '../../db/sessions/sessions.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import { recordAudit } from '../audit/index.ts'
import { notifyUser } from '../emails/index.ts'
import { revokeSession } from './revoke.ts'

/** Revokes the session with all tokens that descend from the stolen one (RFC 9700 §4.14.2). */
export async function revokeForReuse(
  app: FastifyInstance,
  record: SessionRecord,
  { ip }: ClientInfo,
  now: Date,
): Promise<void> {
  if (!app.bearerAuth.sessionPolicy.rotation) return
  const traits = { session_id: record.session_id, reason: 'refresh token reused' }
  await app.db.transaction().execute(async (trx) => {
    if (!(await revokeSession(app, trx, record.id, record.session_id, now))) return
    await recordAudit(app.audit, trx, 'token_revoked', record, { ip: ip ?? '', now, traits })
    const alert = { kind: 'refresh_token_reused_notification' } as const
    await notifyUser(app, trx, record, alert, now)
  })
}
