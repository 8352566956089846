/** What became of the mails of a person, for admins who are asked where one is. */
import type { Db } from './database.ts'
import type { MailMessagesTable } from './mail-messages.ts'

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

export type MailDelivery = Pick<MailMessagesTable, (typeof columns)[number]>

/** More than anybody is sent while rows are kept. */
const most = 200

/** Newest first; by postern_mail_messages_user_idx. */
export function findMailDeliveries(db: Db, userId: string): Promise<MailDelivery[]> {
  return db
    .selectFrom('postern_mail_messages')
    .select(columns)
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .limit(most)
    .execute()
}
