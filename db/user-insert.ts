/** Adding a person's row: a statement, and what others begin with. */
import { sql } from 'kysely'

import type { Db } from './database.ts'
import {
  type EventValues,
  eventInsert,
  eventUser,
  eventValues,
  type NewEvent,
} from './event-inbox.ts'
import { type IdentityJson, identityColumns, type NewIdentity } from './identities.ts'
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

const identityRow = [
  ...(['id', 'user_id', 'provider', 'provider_id', 'identity_data'] as const),
  ...(['last_sign_in_at', 'created_at', 'updated_at'] as const),
]

export type FirstIdentity = Omit<NewIdentity, 'user_id'>

/**
 * The identities of everybody in the common table expression `inserted`, from a JSON array of FirstIdentity. Each is a
 * millisecond younger than the one before: identities are ordered by age everywhere, so two must not be of one moment.
 */
const firstIdentities = (
  db: Pick<Db, 'insertInto'>,
  value: ValueOf<{ identities: string; now: Date }>,
) => {
  const now = sql`${value('now')}::timestamptz`
  const madeAt = sql`${now} + (given.position - 1) * interval '1 ms'`
  return db
    .insertInto('identities')
    .columns(identityRow)
    .expression(
      sql`select gen_random_uuid(), inserted.id, given.identity ->> 'provider', given.identity ->> 'provider_id',
        given.identity -> 'identity_data', ${madeAt}, ${madeAt}, ${madeAt}
        from inserted, jsonb_array_elements(${value('identities')}::jsonb) with ordinality as given (identity, position)`,
    )
    .returning(identityColumns)
}

const inserted = (db: Db, value: ValueOf<NewRow & { identities: string }>) =>
  db
    .with('inserted', (eb) => userInsert(eb, value))
    .with('added', (eb) => firstIdentities(eb, value))

const withIdentities = sql<IdentityJson[]>`
  (select coalesce(jsonb_agg(to_jsonb(added) order by added.created_at), '[]') from added)`

const insertRow = preparedRow((db, value: ValueOf<NewRow & { identities: string }>) =>
  inserted(db, value).selectFrom('inserted').selectAll().select(withIdentities.as('identities')),
)

const insertTold = preparedRow(
  (db, value: ValueOf<NewRow & { identities: string } & EventValues>) =>
    inserted(db, value)
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
      .select(withIdentities.as('identities')),
)

/** A person with what is stored in the same statement. */
export interface Newcomer {
  user: NewUser
  /** The ways they can sign in, oldest first. */
  identities: readonly FirstIdentity[]
  events: readonly NewEvent[]
}

/** Inserts nothing and returns undefined when another request took the address first. */
export async function insertUser(
  db: Db,
  { user, identities, events }: Newcomer,
  now: Date,
): Promise<UserRecord | undefined> {
  const values = { ...newRow(user, null, now), identities: JSON.stringify(identities) }
  const row =
    events.length > 0
      ? await insertTold(db, { ...values, ...eventValues(events) })
      : await insertRow(db, values)
  return row && { ...row, factors: [] }
}
