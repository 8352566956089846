/**
 * Functions of organizations for row-level security policies. Three read the claims of the request; `is_member` reads
 * the membership as it is now.
 */
import { sql } from 'kysely'

import type { MigrationDb } from './ensure.ts'

/** As in 0009: newer REST APIs set one JSON setting, older ones a setting for each claim. */
const claim = (name: string) => `coalesce(
  nullif(current_setting('request.jwt.claim.${name}', true), ''),
  nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> '${name}')`

export async function up(db: MigrationDb): Promise<void> {
  await claimFunction(db, 'org_id() returns uuid', `nullif(${claim('org_id')}, '')::uuid`)
  await claimFunction(db, 'org_role() returns text', `nullif(${claim('org_role')}, '')`)
  await claimFunction(
    db,
    'has_permission(permission text) returns boolean',
    `coalesce((${claim('org_permissions')})::jsonb ?| array[permission, '*'], false)`,
  )
  await isMember(db)
  for (const role of ['authenticated', 'service_role']) await grantExecute(db, role)
}

async function claimFunction(db: MigrationDb, signature: string, body: string): Promise<void> {
  await sql
    .raw(
      `create or replace function ${signature} language sql stable parallel safe as $$ select ${body} $$`,
    )
    .execute(db)
}

/**
 * Runs with the rights of its owner, because clients of the database cannot read the tables. Every name in it is
 * qualified and the search path is fixed, so that a caller cannot put an object of their own in the way.
 */
async function isMember(db: MigrationDb): Promise<void> {
  await sql
    .raw(`
      do $$ begin
        execute format($body$
          create or replace function is_member(organization uuid) returns boolean
            language sql stable parallel safe security definer set search_path = '' as $f$
            select exists (
              select from %1$I.postern_organization_members as member
              join %1$I.postern_organizations as found on found.id = member.organization_id
              where member.organization_id = organization
                and member.user_id = (select nullif(${claim('sub')}, '')::uuid)
                and member.status = 'active' and found.deleted_at is null
            )
          $f$ $body$, current_schema());
      end $$`)
    .execute(db)
}

/** The role may be missing where this login may not create it (0009 warns of that). */
async function grantExecute(db: MigrationDb, role: string): Promise<void> {
  await sql
    .raw(`
      do $$ begin
        if exists (select from pg_roles where rolname = '${role}') then
          execute 'grant execute on function org_id(), org_role(), has_permission(text), is_member(uuid) to ${role}';
        end if;
      end $$`)
    .execute(db)
}
