/** The transactional outbox of events: they are inserted by the statement, or in the transaction, of the change. */
import { type Expression, type QueryCreator, type SqlBool, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { executeStatement, type ParamOf } from '../core/statement.ts'
import { storedObject } from '../core/stored-json.ts'

/** An event to be inserted. */
export interface NewEvent {
  id: string
  type: string
  user_id: string | null
  data: Record<string, unknown>
  /** Add the user after the change to the data. */
  with_user: boolean
}

export interface EventValues {
  /** JSON: an array of NewEvent. */
  events: string
}

export const eventValues = (events: readonly NewEvent[]): EventValues => ({
  events: JSON.stringify(events),
})

/** `to_char` returns null for infinity; it is formatted as in schemas/values/timestamp.ts. */
const formatTime = (column: string) =>
  sql`case ${sql.ref(column)} when 'infinity' then '9999-12-31T23:59:59.999Z' when '-infinity' then '0001-01-01T00:00:00.000Z'
    else to_char(${sql.ref(column)} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end`

/** The user as in events (EventUser in schemas/events.ts), from the columns of `table`. */
export function eventUser(table: 'users' | 'edited' | 'inserted' | 'target_user') {
  const column = (name: string) => sql.ref(`${table}.${name}`)
  return sql`jsonb_build_object(
    'id', ${column('id')}, 'aud', coalesce(${column('aud')}, ''), 'role', coalesce(${column('role')}, ''),
    'email', coalesce(${column('email')}, ''), 'phone', coalesce(${column('phone')}, ''),
    'email_confirmed_at', ${formatTime(`${table}.email_confirmed_at`)},
    'phone_confirmed_at', ${formatTime(`${table}.phone_confirmed_at`)},
    'is_anonymous', ${column('is_anonymous')}, 'is_sso_user', ${column('is_sso_user')},
    'app_metadata', ${storedObject(column('raw_app_meta_data'))},
    'user_metadata', ${storedObject(column('raw_user_meta_data'))},
    'banned_until', ${formatTime(`${table}.banned_until`)},
    'created_at', ${formatTime(`${table}.created_at`)}, 'updated_at', ${formatTime(`${table}.updated_at`)})`
}

const columns = ['id', 'type', 'user_id', 'data', 'created_at'] as const

/**
 * The insert as a CTE. `user` is an expression for the user. The condition is evaluated first: if it refers to a row
 * that the statement locks, the events of a user are numbered in the order of their transactions.
 */
export function eventInsert(
  db: Pick<QueryCreator<Database>, 'insertInto' | 'selectNoFrom'>,
  value: ParamOf<EventValues & { now: Date }>,
  user: Expression<unknown>,
  condition: Expression<SqlBool>,
) {
  return db
    .insertInto('postern_event_inbox')
    .columns(columns)
    .expression(
      sql`select told.id, told.type, told.user_id,
        told.data || case when told.with_user then jsonb_build_object('user', ${user}) else '{}' end,
        ${value('now')}::timestamptz
      from jsonb_to_recordset(${value('events')}::jsonb)
        as told (id uuid, type text, user_id uuid, data jsonb, with_user boolean)
      where ${condition}`,
    )
}

/** The user of an event, as the statement's snapshot has it. */
export const storedUser = (db: Pick<QueryCreator<Database>, 'selectFrom'>) =>
  db
    .selectFrom('users')
    .select(eventUser('users').as('user'))
    .where(sql<boolean>`users.id = told.user_id`)

const insertRows = executeStatement((db, value: ParamOf<EventValues & { now: Date }>) =>
  eventInsert(db, value, storedUser(db), sql`true`),
)

export async function insertEvents(db: Db, events: readonly NewEvent[], now: Date): Promise<void> {
  await insertRows(db, { ...eventValues(events), now })
}
