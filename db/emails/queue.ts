/** The email queue for operators, newest first. */
import type { Db } from '../core/database.ts'
import { isBeforeRow, type RowCursor } from '../core/row-cursor.ts'
import type { MailMessagesTable } from '../tables/emails.ts'

interface MailFilter {
  state: 'waiting' | 'dead' | 'sent' | undefined
  kind: string | undefined
  after: RowCursor | undefined
}

const states = {
  waiting: ['queued', 'sending'],
  dead: ['dead'],
  sent: ['sent'],
} as const satisfies Record<string, readonly MailMessagesTable['state'][]>

/** A page, and one row more. */
export function listMail(
  db: Db,
  { state, kind, after }: MailFilter,
  size: number,
): Promise<MailMessagesTable[]> {
  return db
    .selectFrom('postern_mail_messages')
    .selectAll()
    .$if(state !== undefined, (qb) => qb.where('state', 'in', states[state ?? 'dead']))
    .$if(kind !== undefined, (qb) => qb.where('kind', '=', kind ?? ''))
    .$if(after !== undefined, (qb) => (after ? qb.where(isBeforeRow(after)) : qb))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(size + 1)
    .execute()
}

/** The ids of the oldest dead letters, at most `most`. */
export function listDeadMail(db: Db, limit: number): Promise<MailMessagesTable[]> {
  return db
    .selectFrom('postern_mail_messages')
    .selectAll()
    .where('state', '=', 'dead')
    .orderBy('created_at')
    .limit(limit)
    .execute()
}
