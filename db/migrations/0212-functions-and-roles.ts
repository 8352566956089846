/** Functions for row-level security policies, and the roles of a database REST API. */
import { sql } from 'kysely'

import { ensureFunction, type MigrationDb } from './ensure.ts'
import { type PolicyFunction, policyFunctionComment, policyFunctions } from './policy-functions.ts'

export async function up(db: MigrationDb): Promise<void> {
  await claimFunctions(db)
  await ensureRole(db, 'anon', 'nologin noinherit')
  await ensureRole(db, 'authenticated', 'nologin noinherit')
  await ensureRole(db, 'service_role', 'nologin noinherit bypassrls')
  for (const role of ['anon', 'authenticated', 'service_role']) await grantUsage(db, role)
  for (const name of policyFunctions) await createUnlessTaken(db, name)
}

/** Older REST APIs set one setting per claim, newer ones a single JSON setting. */
async function claimFunctions(db: MigrationDb): Promise<void> {
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

const claim = (name: string) => `coalesce(
  nullif(current_setting('request.jwt.claim.${name}', true), ''),
  nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> '${name}')`

const fromClaims = (signature: string, body: string) =>
  `${signature} language sql stable parallel safe as $$ select ${body} $$`

const permissions = `(${claim('org_permissions')})::jsonb`

/** `%1$I` is the schema. */
const definitions: Record<PolicyFunction, string> = {
  'org_id()': fromClaims('org_id() returns uuid', `nullif(${claim('org_id')}, '')::uuid`),
  'org_role()': fromClaims('org_role() returns text', `nullif(${claim('org_role')}, '')`),
  'has_permission(text)': fromClaims(
    'has_permission(permission text) returns boolean',
    `coalesce(${permissions} ?| array[permission, '*'], false)`,
  ),
  // Runs with the rights of its owner, because clients of the database cannot read the tables. Every name in it is
  // qualified and the search path is fixed, so that a caller cannot put an object of their own in the way.
  'is_member(uuid)': `is_member(organization uuid) returns boolean
    language sql stable parallel safe security definer set search_path = '' as $$
      select exists (
        select from %1$I.postern_organization_members as member
        join %1$I.postern_organizations as found on found.id = member.organization_id
        where member.organization_id = organization
          and member.user_id = (select nullif(${claim('sub')}, '')::uuid)
          and member.status = 'active' and found.deleted_at is null
      )
    $$`,
}

/**
 * Functions of organizations. Three read the claims of the request; `is_member` reads the membership as it is now. A
 * function of the operator with the same name and arguments is kept: its policies and programs rely on what it returns.
 * The roles may be missing where this login may not create them.
 */
async function createUnlessTaken(db: MigrationDb, name: PolicyFunction): Promise<void> {
  await sql
    .raw(`
      do $do$ declare
        found oid := to_regprocedure(format('%I.${name}', current_schema()));
        client text;
      begin
        if found is not null then
          if obj_description(found, 'pg_proc') is distinct from '${policyFunctionComment}' then
            raise warning 'The function % is not of this server and is kept. Policies of organizations that call it '
              'get what it returns.', found::regprocedure;
          end if;
          return;
        end if;
        execute format($body$ create function %1$I.${definitions[name]} $body$, current_schema());
        comment on function ${name} is '${policyFunctionComment}';
        for client in select rolname from pg_roles where rolname in ('authenticated', 'service_role') loop
          execute format('grant execute on function ${name} to %I', client);
        end loop;
      end $do$`)
    .execute(db)
}
