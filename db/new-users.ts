/** Making a person, with the ways they can sign in. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Db } from './database.ts'
import {
  type EventValues,
  eventInsert,
  eventUser,
  eventValues,
  type NewEvent,
} from './event-inbox.ts'
import {
  type IdentityJson,
  identityColumns,
  identityRowColumns,
  type NewIdentity,
} from './identities.ts'
import { preparedRow, type ValueOf } from './prepared-statement.ts'
import { userColumns } from './user-columns.ts'
import { type Metadata, nilUuid, type UserRecord } from './users.ts'

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

/** The identities of a newcomer as values of a statement. */
interface NewIdentitiesValue {
  /** JSON. */
  identities: string
}

/** Identities are ordered by age everywhere, so no two are of one moment. */
const newIdentities = (identities: readonly Omit<NewIdentity, 'user_id'>[], now: Date) =>
  JSON.stringify(
    identities.map((identity, index) => ({ ...identity, at: new Date(now.getTime() + index) })),
  )

/** For each person in the rows called inserted. */
const identitiesInsert = (
  db: Pick<QueryCreator<Database>, 'insertInto'>,
  value: ValueOf<NewIdentitiesValue>,
) =>
  db
    .insertInto('identities')
    .columns(identityRowColumns)
    .expression(sql`select gen_random_uuid(), inserted.id, given.provider, given.provider_id, given.identity_data,
        given.at, given.at, given.at
      from inserted, jsonb_to_recordset(${value('identities')}::jsonb)
        as given (provider text, provider_id text, identity_data jsonb, at timestamptz)`)
    .returning(identityColumns)

type Inserted = NewRow & NewIdentitiesValue

const insertRow = preparedRow((db, value: ValueOf<Inserted>) =>
  withIdentities(db, value).selectFrom('inserted').selectAll().select(addedIdentities),
)

const insertTold = preparedRow((db, value: ValueOf<Inserted & EventValues>) =>
  withIdentities(db, value)
    .with('told', (eb) =>
      eventInsert(
        eb,
        value,
        eb.selectFrom('inserted').select(eventUser('inserted').as('user')),
        sql`exists (select from inserted)`,
      ),
    )
    .selectFrom('inserted')
    .selectAll()
    .select(addedIdentities),
)

/** The person, and their identities only where the person is new. */
const withIdentities = (db: Db, value: ValueOf<Inserted>) =>
  db
    .with('inserted', (eb) => userInsert(eb, value))
    .with('added', (eb) => identitiesInsert(eb, value))

const addedIdentities = sql<
  IdentityJson[]
>`(select coalesce(json_agg(added order by created_at), '[]') from added)`.as('identities')

/** What comes with a person who is made. */
export interface NewPersonParts {
  /** The ways they can sign in, oldest first. */
  identities: readonly Omit<NewIdentity, 'user_id'>[]
  events: readonly NewEvent[]
}

/** Inserts nothing and returns undefined when another request took the id or an address first. */
export async function insertUser(
  db: Db,
  user: NewUser,
  { identities, events }: NewPersonParts,
  now: Date,
): Promise<UserRecord | undefined> {
  const values = { ...newRow(user, null, now), identities: newIdentities(identities, now) }
  const row =
    events.length > 0
      ? await insertTold(db, { ...values, ...eventValues(events) })
      : await insertRow(db, values)
  return row && { ...row, factors: [] }
}

interface Wanted {
  aud: string
  email: string | null
  phone: string | null
}

/**
 * Takes away whoever has one of these addresses in another audience and is nobody yet: somebody typed it into a sign-up,
 * proved nothing and never came in. Returns their ids.
 */
export async function deleteUnusedElsewhere(
  db: Db,
  { aud, email, phone }: Wanted,
): Promise<string[]> {
  const holders = db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email)
    .unionAll(db.selectFrom('users').select('id').where('phone', '=', phone))
  const rows = await db
    .deleteFrom('users')
    .where('id', 'in', holders)
    .where('aud', '<>', aud)
    .where('is_sso_user', '=', false)
    .where('email_confirmed_at', 'is', null)
    .where('phone_confirmed_at', 'is', null)
    .where('invited_at', 'is', null)
    .where('last_sign_in_at', 'is', null)
    // As sign-ups write it; whom an admin made stays.
    .where(sql<boolean>`raw_user_meta_data ->> 'sub' = id::text`)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}
