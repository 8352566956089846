/** Delivery status of the emails to a user, for support requests. */
import type { Db } from '../core/database.ts'
import type { MailMessagesTable } from '../tables/emails.ts'

const columns = [
  'id',
  'kind',
  'locale',
  'state',
  'outcome',
  'attempts',
  'reason',
  'response',
  'created_at',
  'updated_at',
  'expires_at',
  'sent_at',
] as const

type MailDeliveryRow = Pick<MailMessagesTable, (typeof columns)[number]>

/** More than a user receives within the retention period. */
const limit = 200

/** Newest first, by postern_mail_messages_user_idx. */
export function findMailDeliveries(db: Db, userId: string): Promise<MailDeliveryRow[]> {
  return db
    .selectFrom('postern_mail_messages')
    .select(columns)
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute()
}
