/** Databases of GoTrue 2.196 and 2.197 are migrated and rolled back without changes to additions of 2.197. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { run } from '../../../../cli/takeover/index.ts'
import { gotrueVersions, knownGotrueVersions } from '../../../../db/migrations/gotrue-level.ts'
import { columns, migrated, query } from '../../../db/sql.ts'
import { encryptionKey } from '../../../support/config.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { gotrueDatabase } from '../../../support/gotrue/database.ts'
import { gotrue2196Database } from '../../../support/gotrue/earlier-release.ts'
import { callCommand } from '../../../support/processes/command-call.ts'

const userId = '11111111-1111-4111-8111-111111111111'

/** A token with a stored expiry, an identity provider with a SCIM user, and recovery codes. */
const rows = [
  `insert into auth.users (id, aud, role, email, instance_id) values ('${userId}', 'authenticated',
    'authenticated', 'ada@example.com', '00000000-0000-0000-0000-000000000000')`,
  `insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to, expires_at)
    values (gen_random_uuid(), '${userId}', 'recovery_token', 'hash', 'ada@example.com', now() + interval '1 hour')`,
  `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
    values ('22222222-2222-4222-8222-222222222222', '${userId}', 'Recovery codes', 'recovery_code', 'verified', now(), now(), '')`,
  `insert into auth.mfa_recovery_code_sets (id, user_id, mfa_factor_id)
    values ('33333333-3333-4333-8333-333333333333', '${userId}', '22222222-2222-4222-8222-222222222222')`,
  `insert into auth.mfa_recovery_codes (id, mfa_recovery_code_set_id, code_hash)
    values (gen_random_uuid(), '33333333-3333-4333-8333-333333333333', '$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')`,
  `insert into auth.sso_providers (id) values ('44444444-4444-4444-8444-444444444444')`,
  `insert into auth.scim_users (id, sso_provider_id, user_id, resource)
    values (gen_random_uuid(), '44444444-4444-4444-8444-444444444444', '${userId}', '{"userName": "Ada", "externalId": "a1"}')`,
  `insert into auth.scim_tokens (id, sso_provider_id, token_hash, prefix, expires_at)
    values (gen_random_uuid(), '44444444-4444-4444-8444-444444444444', repeat('0a', 32), 'scim_', now() + interval '1 day')`,
]

const tables = [
  'one_time_tokens',
  'mfa_factors',
  'mfa_recovery_code_sets',
  'mfa_recovery_codes',
  'scim_users',
  'scim_tokens',
]

async function contents(url: string) {
  const found: Record<string, unknown> = {}
  for (const table of tables) found[table] = await query(url, `select * from auth.${table}`)
  return found
}

const versionsIn = async (url: string, schema = 'auth') => {
  const found = await query(url, `select version from ${schema}.schema_migrations order by version`)
  return found.map(({ version }) => version)
}

async function undo(url: string) {
  const env = { DATABASE_URL: url, AUTH_ENCRYPTION_KEY: encryptionKey }
  const { code, stderr } = await callCommand(run, ['undo'], { ...environment, ...env })
  assert.equal(code, 0, stderr)
}

const environment = {
  AUTH_DB_DRIVER: 'postgres',
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_JWT_SECRET: 'x'.repeat(8) + crypto.randomUUID(),
}

suite('migration from GoTrue 2.197', () => {
  test('keeps rows and columns of 2.197 in both directions', async (t) => {
    const { url } = await gotrueDatabase(t)
    await query(url, ...rows)
    const [before, columnsBefore] = [await contents(url), await columns(url)]

    await migrated(url)
    assert.deepEqual(await contents(url), before)
    await undo(url)

    assert.deepEqual(await contents(url), before)
    assert.deepEqual(await columns(url), columnsBefore)
    assert.deepEqual(await versionsIn(url), knownGotrueVersions)
  })
})

test('a migrated database has row-level security on the tables of 2.197, also after a rollback', async (t) => {
  const { url } = await gotrueDatabase(t)
  const secured = () =>
    query(
      url,
      `select relname from pg_class where relnamespace = 'auth'::regnamespace and relkind = 'r'
        and not relrowsecurity and relname <> 'schema_migrations'`,
    )
  await migrated(url)
  assert.deepEqual(await secured(), [])
  await undo(url)
  assert.deepEqual(await secured(), [])
})

suite('migration from GoTrue 2.196', () => {
  test('upgrades the schema to 2.197, which a rollback keeps', async (t) => {
    const { url } = await gotrue2196Database(t)
    assert.deepEqual(await versionsIn(url), gotrueVersions)
    await migrated(url)
    await query(url, ...rows)
    const before = await contents(url)
    await undo(url)
    assert.deepEqual(await contents(url), before)
    const made = await gotrueDatabase(t)
    assert.deepEqual(await columns(url), await columns(made.url))
    assert.deepEqual(await versionsIn(url), knownGotrueVersions)
  })

  test('records the versions in schema public when it contains GoTrue’s list of migrations', async (t) => {
    const { url } = await gotrue2196Database(t)
    await query(url, 'alter table auth.schema_migrations set schema public')
    await migrated(url)
    assert.deepEqual(await versionsIn(url, 'public'), knownGotrueVersions)
  })
})

test('a new database has the schema of GoTrue 2.197', async (t) => {
  const { url } = await cloneDatabase(t)
  assert.deepEqual(await versionsIn(url), knownGotrueVersions)
})
