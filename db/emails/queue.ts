/** The email queue for operators, and the emails to one user for support requests. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { isBeforeRow, type RowCursor } from '../core/paging.ts'
import type { MailMessagesTable } from '../tables/messages.ts'

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

interface MailBacklog {
  waiting: number
  dead: number
  oldest_waiting: Date | null
}

/** Counts unsent messages, by postern_mail_messages_state_idx. */
export function countMailBacklog(db: Db): Promise<MailBacklog> {
  return db
    .selectFrom('postern_mail_messages')
    .where('state', 'in', ['queued', 'sending', 'dead'])
    .select([
      sql<number>`(count(*) filter (where state <> 'dead'))::integer`.as('waiting'),
      sql<number>`(count(*) filter (where state = 'dead'))::integer`.as('dead'),
      sql<Date | null>`min(created_at) filter (where state <> 'dead')`.as('oldest_waiting'),
    ])
    .executeTakeFirstOrThrow()
}
