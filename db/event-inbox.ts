/** Writing events down, in the statement of what they tell of or in a statement of the same transaction. */
import {
  type ColumnType,
  type Expression,
  type Generated,
  type QueryCreator,
  type SqlBool,
  sql,
} from 'kysely'

import type { Database, Db } from './database.ts'
import { preparedWrite, type ValueOf } from './prepared-statement.ts'

export interface EventInboxTable {
  seq: Generated<number>
  id: string
  type: string
  user_id: string | null
  data: ColumnType<Record<string, unknown>, string, never>
  created_at: Date
}

/** An event that is about to be written. */
export interface NewEvent {
  id: string
  type: string
  user_id: string | null
  data: Record<string, unknown>
  /** The person, as they are then, is added to the data. */
  with_user: boolean
}

export interface EventValues {
  /** JSON: an array of NewEvent. */
  events: string
}

export const eventValues = (events: readonly NewEvent[]): EventValues => ({
  events: JSON.stringify(events),
})

/** Infinity is written as schemas/timestamp.ts shows it: `to_char` has nothing for it. */
const moment = (column: string) =>
  sql`case ${sql.ref(column)} when 'infinity' then '9999-12-31T23:59:59.999Z' when '-infinity' then '0001-01-01T00:00:00.000Z'
    else to_char(${sql.ref(column)} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') end`

/** The person as events hold them (EventUser in schemas/events.ts), from the columns of `table`. */
export function eventUser(table: 'users' | 'edited' | 'inserted' | 'person') {
  const column = (name: string) => sql.ref(`${table}.${name}`)
  return sql`jsonb_build_object(
    'id', ${column('id')}, 'aud', coalesce(${column('aud')}, ''), 'role', coalesce(${column('role')}, ''),
    'email', coalesce(${column('email')}, ''), 'phone', coalesce(${column('phone')}, ''),
    'email_confirmed_at', ${moment(`${table}.email_confirmed_at`)},
    'phone_confirmed_at', ${moment(`${table}.phone_confirmed_at`)},
    'is_anonymous', ${column('is_anonymous')}, 'is_sso_user', ${column('is_sso_user')},
    'app_metadata', coalesce(${column('raw_app_meta_data')}, '{}'),
    'user_metadata', coalesce(${column('raw_user_meta_data')}, '{}'),
    'banned_until', ${moment(`${table}.banned_until`)},
    'created_at', ${moment(`${table}.created_at`)}, 'updated_at', ${moment(`${table}.updated_at`)})`
}

const columns = ['id', 'type', 'user_id', 'data', 'created_at'] as const

/**
 * The insert as a building block for statements that tell of themselves. `user` is an expression for the person. The
 * condition is looked at first: where it asks for a row that the statement locks, events of one person are numbered
 * in the order in which their transactions took turns.
 */
export function eventInsert(
  db: Pick<QueryCreator<Database>, 'insertInto' | 'selectNoFrom'>,
  value: ValueOf<EventValues & { now: Date }>,
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

/** The person of an event, from the table; as the statement found them. */
export const storedUser = (db: Pick<QueryCreator<Database>, 'selectFrom'>) =>
  db
    .selectFrom('users')
    .select(eventUser('users').as('user'))
    .where(sql<boolean>`users.id = told.user_id`)

const insertRows = preparedWrite((db, value: ValueOf<EventValues & { now: Date }>) =>
  eventInsert(db, value, storedUser(db), sql`true`),
)

export async function insertEvents(db: Db, events: readonly NewEvent[], now: Date): Promise<void> {
  await insertRows(db, { ...eventValues(events), now })
}
