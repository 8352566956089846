/** Inserts a user with their identities. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'
import {
  type EventValues,
  eventInsert,
  eventUser,
  eventValues,
  type NewEvent,
} from '../events/outbox.ts'
import { identityRowColumns, type NewIdentity } from '../identities/identities.ts'
import { type IdentityJson, identityColumns } from '../tables/identities.ts'
import { nilUuid, type UserMetadata, userColumns } from '../tables/users.ts'
import type { UserRecord } from './users.ts'

export interface NewUser {
  id: string
  aud: string
  role: string
  email: string | null
  phone: string | null
  encrypted_password: string | null
  raw_app_meta_data: UserMetadata
  raw_user_meta_data: UserMetadata
  is_anonymous: boolean
  is_sso_user: boolean
  email_confirmed_at: Date | null
  phone_confirmed_at: Date | null
  banned_until: Date | null
}

/** A user as parameters of a statement. */
export type NewRow = Omit<NewUser, 'id' | 'raw_app_meta_data' | 'raw_user_meta_data'> & {
  user_id: string
  app: string
  user: string
  /** Null when the statement creates no session. */
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

/** The insert as a CTE; it inserts nothing when the id or an identifier is in use. */
export const userInsert = (db: Pick<Db, 'insertInto'>, value: ParamOf<NewRow>) =>
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
      // GoTrue cannot read null in these columns, and its tables have no default.
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

/** The identities of a new user as parameters of a statement. */
interface NewIdentitiesValue {
  /** JSON. */
  identities: string
}

/** Identities are ordered by age, so that no two may have the same time. */
const newIdentities = (identities: readonly Omit<NewIdentity, 'user_id'>[], now: Date) =>
  JSON.stringify(
    identities.map((identity, index) => ({ ...identity, at: new Date(now.getTime() + index) })),
  )

/** One identity for each row of the CTE `inserted`. */
const identitiesInsert = (
  db: Pick<QueryCreator<Database>, 'insertInto'>,
  value: ParamOf<NewIdentitiesValue>,
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

const insertRow = queryOne((db, value: ParamOf<Inserted>) =>
  withIdentities(db, value).selectFrom('inserted').selectAll().select(addedIdentities),
)

const insertEvents = queryOne((db, value: ParamOf<Inserted & EventValues>) =>
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

/** Inserts the identities only if the user was inserted. */
const withIdentities = (db: Db, value: ParamOf<Inserted>) =>
  db
    .with('inserted', (eb) => userInsert(eb, value))
    .with('added', (eb) => identitiesInsert(eb, value))

const addedIdentities = sql<
  IdentityJson[]
>`(select coalesce(json_agg(added order by created_at), '[]') from added)`.as('identities')

/** Rows inserted with a new user. */
interface NewUserRelations {
  /** Oldest first. */
  identities: readonly Omit<NewIdentity, 'user_id'>[]
  events: readonly NewEvent[]
}

/** Returns undefined, with nothing written, when another request took the id or an identifier. */
export async function insertUser(
  db: Db,
  user: NewUser,
  { identities, events }: NewUserRelations,
  now: Date,
): Promise<UserRecord | undefined> {
  const values = { ...newRow(user, null, now), identities: newIdentities(identities, now) }
  const row =
    events.length > 0
      ? await insertEvents(db, { ...values, ...eventValues(events) })
      : await insertRow(db, values)
  return row && { ...row, factors: [] }
}

interface NewIdentifiers {
  aud: string
  email: string | null
  phone: string | null
}

/**
 * Deletes unused accounts with one of these identifiers in other audiences: created by a sign-up, never verified,
 * without a session. Returns their ids.
 */
export async function deleteUnusedInOtherAudiences(
  db: Db,
  { aud, email, phone }: NewIdentifiers,
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
    // Set by sign-ups; users created by an admin stay.
    .where(sql<boolean>`raw_user_meta_data ->> 'sub' = id::text`)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}
