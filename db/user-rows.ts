/** Adding, changing, locking and removing a person's row. */
import { sql } from 'kysely'

import type { Db } from './database.ts'
import {
  type EventValues,
  eventInsert,
  eventUser,
  eventValues,
  type NewEvent,
} from './event-inbox.ts'
import {
  namesIn,
  preparedFor,
  preparedRow,
  preparedWrite,
  type ValueOf,
  valuesOf,
} from './prepared-statement.ts'
import { userColumns } from './user-columns.ts'
import { type Metadata, nilUuid, type UserRecord, type UserRow } from './users.ts'

export interface NewUser {
  id: string
  aud: string
  role: string
  email: string | null
  phone: string | null
  encrypted_password: string | null
  raw_app_meta_data: Metadata
  raw_user_meta_data: Metadata
  is_anonymous: boolean
  is_sso_user: boolean
  email_confirmed_at: Date | null
  phone_confirmed_at: Date | null
  banned_until: Date | null
}

type NewRow = Omit<NewUser, 'raw_app_meta_data' | 'raw_user_meta_data'> & {
  app: string
  user: string
  now: Date
}

const insertion = (db: Pick<Db, 'insertInto'>, value: ValueOf<NewRow>) =>
  db
    .insertInto('users')
    .values({
      id: value('id'),
      aud: value('aud'),
      role: value('role'),
      email: value('email'),
      phone: value('phone'),
      encrypted_password: value('encrypted_password'),
      is_anonymous: value('is_anonymous'),
      is_sso_user: value('is_sso_user'),
      email_confirmed_at: value('email_confirmed_at'),
      phone_confirmed_at: value('phone_confirmed_at'),
      banned_until: value('banned_until'),
      instance_id: nilUuid,
      // GoTrue reads no null in these, and its own tables have no default for them.
      confirmation_token: sql.lit(''),
      recovery_token: sql.lit(''),
      email_change_token_new: sql.lit(''),
      email_change: sql.lit(''),
      raw_app_meta_data: value('app'),
      raw_user_meta_data: value('user'),
      created_at: value('now'),
      updated_at: value('now'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(userColumns)

const insertRow = preparedRow(insertion)

const insertTold = preparedRow((db, value: ValueOf<NewRow & EventValues>) =>
  db
    .with('inserted', (eb) => insertion(eb, value))
    .with('told', (eb) =>
      eventInsert(
        eb,
        value,
        eb.selectFrom('inserted').select(eventUser('inserted').as('user')),
        sql`exists (select from inserted)`,
      ),
    )
    .selectFrom('inserted')
    .selectAll(),
)

/** Inserts nothing and returns undefined when another request took the address first. */
export async function insertUser(
  db: Db,
  { raw_app_meta_data, raw_user_meta_data, ...user }: NewUser,
  events: readonly NewEvent[],
  now: Date,
): Promise<UserRecord | undefined> {
  const [app, own] = [JSON.stringify(raw_app_meta_data), JSON.stringify(raw_user_meta_data)]
  const values = { ...user, app, user: own, now }
  const row =
    events.length > 0
      ? await insertTold(db, { ...values, ...eventValues(events) })
      : await insertRow(db, values)
  return row && { ...row, identities: [], factors: [] }
}

/** Columns a caller may set; metadata is merged by `mergeMetadata`, never set here. */
export type UserChange = Partial<
  Omit<UserRow, 'id' | 'confirmed_at' | 'raw_app_meta_data' | 'raw_user_meta_data' | 'created_at'>
>

type ChangedValues = UserChange & { key: string; now: Date }

const updateColumns = preparedFor((names: readonly (keyof UserChange)[]) =>
  preparedWrite((db, value: ValueOf<ChangedValues>) =>
    db
      .updateTable('users')
      .set({ ...valuesOf(value, names), updated_at: value('now') })
      .where('id', '=', value('key')),
  ),
)

export async function updateUser(db: Db, id: string, change: UserChange, now: Date): Promise<void> {
  await updateColumns(namesIn(change))(db, { ...change, key: id, now })
}

const lockById = preparedRow((db, value: ValueOf<{ id: string }>) =>
  db.selectFrom('users').select('id').where('id', '=', value('id')).forUpdate(),
)

/** Locks the row until the transaction ends, so that two requests about one person take turns. */
export async function lockUser(db: Db, id: string): Promise<void> {
  await lockById(db, { id })
}

const lockAll = preparedRow((db, value: ValueOf<{ ids: readonly string[] }>) =>
  db
    .selectFrom('users')
    .select('id')
    .where('id', '=', sql<string>`any(${value('ids')}::uuid[])`)
    .orderBy('id')
    .forUpdate(),
)

/** Locks several at once, always in one order, so that no two requests wait for each other. */
export async function lockUsers(db: Db, ids: readonly string[]): Promise<void> {
  await lockAll(db, { ids })
}

const deleteById = preparedWrite((db, value: ValueOf<{ id: string }>) =>
  db.deleteFrom('users').where('id', '=', value('id')),
)

export async function deleteUser(db: Db, id: string): Promise<boolean> {
  return (await deleteById(db, { id })) > 0
}
