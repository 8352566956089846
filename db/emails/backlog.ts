import { sql } from 'kysely'

import type { Db } from '../core/database.ts'

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
