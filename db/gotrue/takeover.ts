/** Whether GoTrue shares this database, and the end of the shared operation in either direction. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { isUniqueViolation } from '../core/errors.ts'
import { limitLockWaits } from '../core/locks.ts'
import { undoOnError } from '../core/savepoint.ts'
import { policyFunctionComment, policyFunctions } from '../migrations/policy-functions.ts'
import type { TakeoverTable } from '../tables/server.ts'

export async function findTakeover(
  db: Db,
): Promise<Pick<TakeoverTable, 'state' | 'began_at' | 'finished_at'>> {
  return db
    .selectFrom('postern_takeover')
    .select(['state', 'began_at', 'finished_at'])
    .executeTakeFirstOrThrow()
}

/** Ends the shared operation for good: one-time codes are no longer stored where GoTrue would look them up. */
export async function finishTakeover(db: Db): Promise<void> {
  await db.updateTable('postern_takeover').set({ state: 'own', finished_at: sql`now()` }).execute()
  await db
    // In the order of lockUsers.
    .with('locked', (eb) =>
      eb
        .selectFrom('users')
        .select('users.id')
        .where(
          sql<boolean>`concat(confirmation_token, recovery_token, reauthentication_token,
            email_change_token_new, email_change_token_current, phone_change_token) <> ''`,
        )
        .orderBy('users.id')
        .forNoKeyUpdate(),
    )
    .updateTable('users')
    .from('locked')
    .set({
      confirmation_token: '',
      recovery_token: '',
      reauthentication_token: '',
      email_change_token_new: '',
      email_change_token_current: '',
      phone_change_token: '',
    })
    .whereRef('users.id', '=', 'locked.id')
    .execute()
}

/** Deletes impersonated sessions: without our tables they would be ordinary sessions. */
export async function deleteImpersonatedSessions(db: Db): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where('id', 'in', (eb) => eb.selectFrom('postern_impersonations').select('session_id'))
    .execute()
}

/**
 * Drops every object of Postern: tables, indexes on GoTrue's tables, functions, the queue. Rows in GoTrue's tables are
 * kept. Returns the functions that are still in use.
 */
export async function dropPosternObjects(
  trx: Trx,
  schema: string,
  queueSchema: string,
): Promise<string[]> {
  await limitLockWaits(trx, { maxWaitMs: 5_000 })
  await sql`drop schema if exists ${sql.id(queueSchema)} cascade`.execute(trx)
  const { rows } = await sql<{ kind: string; name: string }>`
    select relkind as kind, relname as name from pg_class
    where relnamespace = to_regnamespace(quote_ident(${schema})) and relname like 'postern\\_%'
      and relkind in ('r', 'i') order by relkind desc
  `.execute(trx)
  for (const { name } of rows.filter(({ kind }) => kind === 'r')) {
    await sql`drop table ${sql.id(schema, name)} cascade`.execute(trx)
  }
  for (const { name } of rows.filter(({ kind }) => kind === 'i')) {
    await sql`drop index if exists ${sql.id(schema, name)}`.execute(trx)
  }
  return dropFunctions(trx, schema)
}

/**
 * Creates GoTrue's unique index again, which this server replaced. Returns false when users of a connection share an
 * externalId.
 */
export async function restoreExternalIdIndex(trx: Trx, schema: string): Promise<boolean> {
  try {
    await undoOnError(trx, () =>
      sql`create unique index if not exists scim_users_external_id_key
        on ${sql.id(schema, 'scim_users')} (sso_provider_id, external_id) where deleted_at is null`.execute(
        trx,
      ),
    )
    return true
  } catch (error) {
    if (!isUniqueViolation(error)) throw error
    return false
  }
}

/** A function that a policy uses is kept: dropping the policy with it could make the operator's table readable. */
async function dropFunctions(trx: Trx, schema: string): Promise<string[]> {
  const rows = (await findPolicyFunctions(trx, schema)).filter(({ isOurs }) => isOurs)
  for (const { name } of rows.filter(({ isUsed }) => !isUsed)) {
    await sql`drop function ${sql.raw(name)}`.execute(trx)
  }
  return rows.filter(({ isUsed }) => isUsed).map(({ name }) => name)
}

/** The functions that have the names and arguments of those of organizations, ours or not. */
export async function findPolicyFunctions(db: Db, schema: string) {
  const { rows } = await sql<{ name: string; isOurs: boolean; isUsed: boolean }>`
    select oid::regprocedure::text as name,
      obj_description(oid, 'pg_proc') is not distinct from ${policyFunctionComment} as "isOurs",
      exists (
        select from pg_depend where refclassid = 'pg_proc'::regclass and refobjid = pg_proc.oid
      ) as "isUsed"
    from pg_proc where oid in (
      select to_regprocedure(format('%I.%s', ${schema}::text, name)) from unnest(${[...policyFunctions]}::text[]) as name
    )
  `.execute(db)
  return rows
}
