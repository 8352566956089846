/**
 * Brings a database of a former version (docs/decisions/2026-11-30-baselines.md) to the state of a new one: changes of
 * data that the baselines do not make, and one list of migrations instead of two. The names of the former migrations stay
 * in it, because commit 397d0154 serves no database without them.
 */
import { sql } from 'kysely'

import { type MigrationDb, tableExists } from './ensure.ts'

const formerTable = 'postern_later_migrations'

export async function up(db: MigrationDb): Promise<void> {
  if (!(await tableExists(db, formerTable))) return
  const { rows } = await sql<{ name: string }>`select name from ${sql.ref(formerTable)}`.execute(db)
  const recorded = rows.map(({ name }) => name)
  for (const [name, change] of Object.entries(changes)) {
    if (!recorded.includes(name)) await change(db)
  }
  await sql`insert into postern_migrations (name, timestamp)
    select name, timestamp from ${sql.ref(formerTable)} on conflict do nothing`.execute(db)
  await sql`drop table ${sql.ref(formerTable)}`.execute(db)
}

/** By the former migrations that made them. */
const changes = {
  '0105-assumed-addresses': markScimAddresses,
  '0112-memberships-of-outsiders': removeOutsiders,
  '0113-deactivated-admins': liftDeactivations,
}

/** ID tokens do not call an address verified that a SCIM client asserted. */
async function markScimAddresses(db: MigrationDb): Promise<void> {
  await sql`
    insert into postern_autoconfirmed_addresses (user_id, address, created_at, cause)
    select users.id, users.email, users.email_confirmed_at, 'scim' from users
    join scim_users on scim_users.user_id = users.id
    join postern_scim_accounts on postern_scim_accounts.scim_user_id = scim_users.id
    where users.email <> '' and users.email_confirmed_at is not null and not users.is_sso_user
    on conflict do nothing`.execute(db)
}

/**
 * Memberships that SCIM clients gave to accounts whose address is neither confirmed nor inside a domain of the
 * organization: its holder is asked whether to join.
 */
async function removeOutsiders(db: MigrationDb): Promise<void> {
  await sql`
    delete from postern_organization_members as member using users
    where users.id = member.user_id and member.joined_by = 'scim' and member.role <> 'owner'
      and users.email <> '' and users.email_confirmed_at is null and not users.is_sso_user
      and not exists (
        select from postern_organization_domains as verified
        where verified.organization_id = member.organization_id and verified.verified_at is not null
          and verified.domain = split_part(users.email, '@', 2))`.execute(db)
}

/** A SCIM client has no authority over an account with a role on the server. */
async function liftDeactivations(db: MigrationDb): Promise<void> {
  await sql`
    delete from postern_deactivations where user_id in (select user_id from postern_admins)
  `.execute(db)
}
