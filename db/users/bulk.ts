/** Bulk import and export of users, a batch per statement, and the progress of imports. */
import { type Selectable, sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import type { IdentityJson } from '../tables/identities.ts'
import { type ImportsTable, nilUuid, userColumns } from '../tables/users.ts'
import { type UserRow, userRelations } from './users.ts'

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
 * Settings for transactions with thousands of rows. The commit does not wait for the disk: a crash loses the progress
 * together with its users. The search index merges its pending entries in larger batches.
 */
export async function tuneBulkLoad(trx: Trx): Promise<void> {
  await sql`set local synchronous_commit = off`.execute(trx)
  await sql`set local gin_pending_list_limit = '32MB'`.execute(trx)
}

/** GoTrue cannot read null in these columns, and its tables have no default. */
const emptyColumns = [
  'confirmation_token',
  'recovery_token',
  'email_change_token_new',
  'email_change',
] as const

/** Returns the ids that were inserted; the others, or their identifiers, are in use. */
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

/** Fails with a unique violation when an identity belongs to another user. */
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

/** Rows as one JSON parameter, so that the statement does not depend on their number. */
function recordset<Row>(rows: Row[], types: Record<keyof Row & string, string>) {
  const columns = Object.entries<string>(types).map(
    ([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`,
  )
  return sql<Row>`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)`.as<'given'>(
    sql`given (${sql.join(columns)})`,
  )
}

export type ExportedUser = UserRow & { identities: IdentityJson[] }

/** Returns the next users by id, with all their rows. */
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

/** Returns which of these ids and identifiers are in use. */
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

export type ImportProgress = Pick<
  Selectable<ImportsTable>,
  'id' | 'settled' | 'imported' | 'refused'
>

export function findImport(db: Db, id: string): Promise<Selectable<ImportsTable> | undefined> {
  return db.selectFrom('postern_imports').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Starts the import, or restarts it at the first row. */
export async function startImport(db: Db, id: string, now: Date): Promise<ImportProgress> {
  const progress = { settled: 0, imported: 0, refused: 0 }
  await db
    .insertInto('postern_imports')
    .values({ id, ...progress, created_at: now, updated_at: now, finished_at: null })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ ...progress, updated_at: now, finished_at: null }),
    )
    .execute()
  return { id, ...progress }
}

/** Stores the progress from one state to the next; false when another process did before. */
export async function updateImportProgress(
  trx: Trx,
  from: ImportProgress,
  { settled, imported, refused }: ImportProgress,
  now: Date,
): Promise<boolean> {
  const result = await trx
    .updateTable('postern_imports')
    .set({ settled, imported, refused, updated_at: now })
    .where('id', '=', from.id)
    .where('settled', '=', from.settled)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export async function finishImport(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('postern_imports').set({ finished_at: now }).where('id', '=', id).execute()
}
