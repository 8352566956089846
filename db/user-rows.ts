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

/** A person as values of a statement. */
export type NewRow = Omit<NewUser, 'id' | 'raw_app_meta_data' | 'raw_user_meta_data'> & {
  user_id: string
  app: string
  user: string
  /** Null for somebody who does not sign in by the same statement. */
  signedInAt: Date | null
  now: Date
}

export function newRow(
  { id: user_id, raw_app_meta_data, raw_user_meta_data, ...user }: NewUser,
  signedInAt: Date | null,
  now: Date,
): NewRow {
  const [app, own] = [JSON.stringify(raw_app_meta_data), JSON.stringify(raw_user_meta_data)]
  return { ...user, user_id, app, user: own, signedInAt, now }
}

/** The insert as a building block; it inserts nothing where the id or an address is taken. */
export const userInsert = (db: Pick<Db, 'insertInto'>, value: ValueOf<NewRow>) =>
  db
    .insertInto('users')
    .values({
      id: value('user_id'),
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
      last_sign_in_at: value('signedInAt'),
      created_at: value('now'),
      updated_at: value('now'),
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(userColumns)

const insertRow = preparedRow(userInsert)

const insertTold = preparedRow((db, value: ValueOf<NewRow & EventValues>) =>
  db
    .with('inserted', (eb) => userInsert(eb, value))
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
  user: NewUser,
  events: readonly NewEvent[],
  now: Date,
): Promise<UserRecord | undefined> {
  const values = newRow(user, null, now)
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
