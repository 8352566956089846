/** The event of a mail that is given up, in the statement that gives it up. */
import { type QueryCreator, sql } from 'kysely'

import type { Database } from './database.ts'

/** A building block for a statement whose expression `dead` has the id, the kind and the reason of each. */
export function deadMailEvents(
  db: Pick<QueryCreator<Database>, 'insertInto'>,
  isTold: boolean,
  now: Date,
) {
  return db
    .insertInto('postern_event_inbox')
    .columns(['id', 'type', 'user_id', 'data', 'created_at'])
    .expression(
      sql`select gen_random_uuid(), 'mail.dead', null,
          jsonb_build_object('message_id', dead.id, 'kind', dead.kind, 'reason', coalesce(dead.reason, '')),
          ${now}::timestamptz
        from dead where ${isTold}::boolean`,
    )
}
