/** Functions for row-level security policies, and the roles of a database REST API. */
import { sql } from 'kysely'

import { ensureFunction, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await functions(db)
  await ensureRole(db, 'anon', 'nologin noinherit')
  await ensureRole(db, 'authenticated', 'nologin noinherit')
  await ensureRole(db, 'service_role', 'nologin noinherit bypassrls')
  for (const role of ['anon', 'authenticated', 'service_role']) await grantUsage(db, role)
}

/** Older REST APIs set one setting per claim, newer ones a single JSON setting. */
async function functions(db: MigrationDb): Promise<void> {
  for (const [name, claim, type] of [
    ['uid', 'sub', 'uuid'],
    ['role', 'role', 'text'],
    ['email', 'email', 'text'],
  ] as const) {
    await ensureFunction(
      db,
      name,
      `returns ${type} language sql stable as $$
        select nullif(coalesce(
          nullif(current_setting('request.jwt.claim.${claim}', true), ''),
          nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> '${claim}'
        ), '')::${type}
      $$`,
    )
  }
  await ensureFunction(
    db,
    'jwt',
    `returns jsonb language sql stable as $$
      select coalesce(
        nullif(current_setting('request.jwt.claim', true), ''),
        nullif(current_setting('request.jwt.claims', true), '')
      )::jsonb
    $$`,
  )
}

/**
 * Roles belong to the whole cluster: another database may create them concurrently, which is no error, and the login
 * may lack the privilege, which is a warning.
 */
async function ensureRole(db: MigrationDb, role: string, attributes: string): Promise<void> {
  await sql
    .raw(`
      do $$ begin
        if not exists (select from pg_roles where rolname = '${role}') then
          create role ${role} ${attributes};
        end if;
      exception
        when duplicate_object or unique_violation then null;
        when insufficient_privilege then
          raise warning 'The role ${role} is missing and this login may not create it. '
            'A database REST layer needs it: create role ${role} ${attributes};';
      end $$`)
    .execute(db)
}

async function grantUsage(db: MigrationDb, role: string): Promise<void> {
  await sql
    .raw(`
      do $$ begin
        if exists (select from pg_roles where rolname = '${role}')
          and not has_schema_privilege('${role}', current_schema(), 'usage')
        then
          execute format('grant usage on schema %I to ${role}', current_schema());
        end if;
      exception when insufficient_privilege then
        raise warning 'This login may not grant usage on the schema % to ${role}.', current_schema();
      end $$`)
    .execute(db)
}
