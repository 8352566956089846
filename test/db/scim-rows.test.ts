/** Rows that SCIM clients wrote before commit 397d0154: the migration of its database changes them, once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { formerMigrations } from '../../db/migrations/former-migrations.ts'
import { migrations } from '../../db/migrations/index.ts'
import { cloneDatabase } from '../support/database.ts'
import { formerDatabase } from '../support/former-database.ts'
import { migrated, query } from './sql.ts'

const ids = ['inside', 'outside', 'confirmed', 'owner'].map((name, at) => ({
  name,
  id: `0000000${at}-0000-4000-8000-000000000000`,
}))
const organization = '11111111-1111-4111-8111-111111111111'
const provider = '22222222-2222-4222-8222-222222222222'

test('the migration removes memberships of unconfirmed outside addresses and deactivations of admins', async (t) => {
  const { url } = (await formerDatabase(t)).database
  await insertRows(url)

  await migrated(url)

  assert.deepEqual(await namesIn(url, 'organization_members'), ['confirmed', 'inside', 'owner'])
  assert.deepEqual(await namesIn(url, 'deactivations'), ['confirmed', 'outside', 'owner'])
})

test('the migration marks addresses that SCIM clients asserted, and custom providers of organizations', async (t) => {
  const { url } = (await formerDatabase(t)).database
  await insertRows(url)

  await migrated(url)

  const marked = await query(
    url,
    `select address from auth.postern_autoconfirmed_addresses where cause <> 'autoconfirm'`,
  )
  assert.deepEqual(marked, [{ address: 'confirmed@elsewhere.test' }])
  const tenants = await query(url, 'select identifier from auth.postern_tenant_providers')
  assert.deepEqual(tenants, [{ identifier: 'custom:corp' }])
})

test('the migration keeps rows that are newer than the changes of commits after 397d0154', async (t) => {
  const { url } = await databaseOfLaterCommit(t)
  await insertRows(url)

  await migrated(url)

  assert.equal((await namesIn(url, 'organization_members')).length, ids.length)
  assert.equal((await namesIn(url, 'deactivations')).length, ids.length)
  assert.deepEqual(await query(url, 'select from auth.postern_autoconfirmed_addresses'), [])
  assert.deepEqual(await query(url, 'select from auth.postern_tenant_providers'), [])
})

/** The schema is that of a new one; both lists have every former name. */
async function databaseOfLaterCommit(t: Parameters<typeof cloneDatabase>[0]) {
  const database = await cloneDatabase(t)
  const early = [...formerMigrations].filter((name) => name <= '0026-gotrue-level')
  const names = (all: string[]) => all.map((name) => `('${name}', now()::text)`).join()
  await query(
    database.url,
    'create table auth.postern_later_migrations (like auth.postern_migrations including all)',
    `delete from auth.postern_migrations where name in (${Object.keys(migrations).map((name) => `'${name}'`)})`,
    `insert into auth.postern_migrations values ${names(early)}`,
    `insert into auth.postern_later_migrations
      values ${names([...formerMigrations].filter((name) => !early.includes(name)))}`,
  )
  return database
}

async function insertRows(url: string): Promise<void> {
  const users = ids.map(({ name, id }) => {
    const domain = name === 'inside' ? 'corp.test' : 'elsewhere.test'
    const confirmed = name === 'confirmed' ? 'now()' : 'null'
    return `('${id}', '${name}@${domain}', ${confirmed})`
  })
  const members = ids.map(({ name, id }) => {
    const role = name === 'owner' ? 'owner' : 'member'
    return `('${organization}', '${id}', '${role}', 'scim', now(), now())`
  })
  await query(
    url,
    `insert into auth.users (id, email, email_confirmed_at) values ${users.join()}`,
    `insert into auth.postern_organizations (id, slug, name, created_at, updated_at)
      values ('${organization}', 'corp', 'Corp', now(), now())`,
    `insert into auth.postern_organization_domains
      (id, organization_id, domain, dns_token, verified_at, created_at, updated_at)
      values (gen_random_uuid(), '${organization}', 'corp.test', 'x', now(), now(), now())`,
    `insert into auth.postern_organization_members
      (organization_id, user_id, role, joined_by, created_at, updated_at) values ${members.join()}`,
    `insert into auth.postern_deactivations (user_id, connection_id, created_at)
      select id, gen_random_uuid(), now() from auth.users
      where id in (${ids.map(({ id }) => `'${id}'`)})`,
    `insert into auth.postern_admins (user_id, role, created_at, updated_at)
      values ('${ids[0]?.id}', 'owner', now(), now())`,
    `insert into auth.sso_providers (id) values ('${provider}')`,
    `insert into auth.scim_users (id, sso_provider_id, user_id, resource)
      select id, '${provider}', id, jsonb_build_object('userName', email) from auth.users
      where email like 'confirmed@%'`,
    'insert into auth.postern_scim_accounts select id from auth.scim_users',
    `insert into auth.custom_oauth_providers
        (id, provider_type, identifier, name, client_id, client_secret, issuer)
      values ('${provider}', 'oidc', 'custom:corp', 'Corp', 'id', 'secret', 'https://corp.test')`,
    `insert into auth.postern_organization_connections
        (id, organization_id, name, custom_provider_id, created_at, updated_at)
      values (gen_random_uuid(), '${organization}', 'Corp', '${provider}', now(), now())`,
  )
}

async function namesIn(url: string, table: string) {
  const rows = await query(
    url,
    `select split_part(email, '@', 1) as name from auth.users
      join auth.postern_${table} as kept on kept.user_id = users.id order by 1`,
  )
  return rows.map(({ name }) => name)
}
