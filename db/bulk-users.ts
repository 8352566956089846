/** People by the thousand: each statement takes or gives a whole batch. */
import { sql } from 'kysely'

import type { Db, Trx } from './database.ts'
import type { IdentityJson } from './identities.ts'
import { userColumns } from './user-columns.ts'
import { nilUuid, type UserRow, userRelations } from './users.ts'

export interface BulkUser {
  id: string
  aud: string
  role: string
  email: string | null
  phone: string | null
  encrypted_password: string | null
  /** Times are RFC 3339. */
  email_confirmed_at: string | null
  phone_confirmed_at: string | null
  invited_at: string | null
  last_sign_in_at: string | null
  created_at: string
  updated_at: string
  banned_until: string | null
  deleted_at: string | null
  is_anonymous: boolean
  is_sso_user: boolean
  raw_app_meta_data: object
  raw_user_meta_data: object
}

export interface BulkIdentity {
  user_id: string
  provider: string
  provider_id: string
  identity_data: object
  last_sign_in_at: string | null
  created_at: string
  updated_at: string
}

const userTypes: Record<keyof BulkUser, string> = {
  id: 'uuid',
  aud: 'text',
  role: 'text',
  email: 'text',
  phone: 'text',
  encrypted_password: 'text',
  email_confirmed_at: 'timestamptz',
  phone_confirmed_at: 'timestamptz',
  invited_at: 'timestamptz',
  last_sign_in_at: 'timestamptz',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  banned_until: 'timestamptz',
  deleted_at: 'timestamptz',
  is_anonymous: 'boolean',
  is_sso_user: 'boolean',
  raw_app_meta_data: 'jsonb',
  raw_user_meta_data: 'jsonb',
}

const identityTypes: Record<keyof BulkIdentity, string> = {
  user_id: 'uuid',
  provider: 'text',
  provider_id: 'text',
  identity_data: 'jsonb',
  last_sign_in_at: 'timestamptz',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
}

/**
 * For transactions of thousands of rows: nobody waits for the disk, as the progress that is lost with the people in
 * a crash is the progress of just these people; and the search index takes its entries in larger heaps.
 */
export async function tuneBulkLoad(trx: Trx): Promise<void> {
  await sql`set local synchronous_commit = off`.execute(trx)
  await sql`set local gin_pending_list_limit = '32MB'`.execute(trx)
}

/** GoTrue reads no null in these, and its own tables have no default for them. */
const emptyColumns = [
  'confirmation_token',
  'recovery_token',
  'email_change_token_new',
  'email_change',
] as const

/** Returns the ids that are new; the others, or their addresses, belong to somebody already. */
export async function insertBulkUsers(trx: Trx, users: BulkUser[]): Promise<Set<string>> {
  const columns = Object.keys(userTypes) as (keyof BulkUser)[]
  const rows = await trx
    .insertInto('users')
    .columns(['instance_id', ...emptyColumns, ...columns])
    .expression((eb) =>
      eb
        .selectFrom(recordset<BulkUser>(users, userTypes))
        .select(sql`${nilUuid}::uuid`.as('instance_id'))
        .select(emptyColumns.map((column) => sql<string>`''`.as(column)))
        .select(columns),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Fails with a unique violation when somebody else has one of the identities. */
export async function insertBulkIdentities(trx: Trx, identities: BulkIdentity[]): Promise<void> {
  const columns = Object.keys(identityTypes) as (keyof BulkIdentity)[]
  await trx
    .insertInto('identities')
    .columns(['id', ...columns])
    .expression((eb) =>
      eb
        .selectFrom(recordset<BulkIdentity>(identities, identityTypes))
        .select(sql`gen_random_uuid()`.as('id'))
        .select(columns),
    )
    .execute()
}

/** Rows as one JSON parameter: the statement stays the same however many there are. */
function recordset<Row>(rows: Row[], types: Record<keyof Row & string, string>) {
  const columns = Object.entries<string>(types).map(
    ([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`,
  )
  return sql<Row>`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)`.as<'given'>(
    sql`given (${sql.join(columns)})`,
  )
}

export type ExportedUser = UserRow & { identities: IdentityJson[] }

/** The next people by id, whole. */
export function exportUsers(db: Db, after: string, limit: number): Promise<ExportedUser[]> {
  return db
    .selectFrom('users')
    .select(userColumns)
    .select((eb) => [userRelations(eb)[0]])
    .where('users.id', '>', after)
    .orderBy('users.id')
    .limit(limit)
    .execute()
}

/** Which ids and addresses of these are taken. */
export async function findTakenInBulk(
  db: Db,
  users: Pick<BulkUser, 'id' | 'email' | 'phone'>[],
): Promise<{ id: string; email: string | null; phone: string | null }[]> {
  const values = (key: 'id' | 'email' | 'phone') => users.flatMap((user) => user[key] ?? [])
  return db
    .selectFrom('users')
    .select(['id', 'email', 'phone'])
    .where((eb) =>
      eb.or([
        sql<boolean>`id = any(${values('id')}::uuid[])`,
        sql<boolean>`(email = any(${values('email')}::text[]) and not is_sso_user)`,
        sql<boolean>`phone = any(${values('phone')}::text[])`,
      ]),
    )
    .execute()
}
