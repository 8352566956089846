import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'

import { cloneDatabase, emptyDatabase, type TestDatabase } from '../support/database.ts'
import { migrated, query } from './sql.ts'

const signingKey = `insert into auth.postern_signing_keys
  (kid, alg, state, private_jwk, public_jwk, created_at) values`

suite('schema of a new database', () => {
  let database: TestDatabase
  let url: string
  after(() => database.drop())
  before(async () => {
    database = await cloneDatabase()
    url = database.url
  })

  test('has row-level security on every table, and no policies', async () => {
    const tables = await query(
      url,
      `select relnamespace::regnamespace || '.' || relname as name, relrowsecurity as secured,
          exists (select from pg_policy where polrelid = pg_class.oid) as opened
        from pg_class where relkind in ('r', 'p')
          and relnamespace in ('auth'::regnamespace, 'auth_jobs'::regnamespace) order by 1`,
    )
    const unsecured = tables.filter(({ secured, opened }) => !secured || opened)
    // The queue's list of its own migrations has numbers and times only.
    assert.deepEqual(unsecured, [{ name: 'auth_jobs.migrations', secured: false, opened: false }])
    assert.ok(tables.some(({ name }) => name === 'auth.scim_tokens'))
  })

  test('has nothing besides tables that could show their rows', async () => {
    const others = await query(
      url,
      `select relname, relkind from pg_class
        where relnamespace = 'auth'::regnamespace and relkind in ('v', 'm', 'f')`,
    )
    assert.deepEqual(others, [])
  })

  test('has an index for each foreign key', async () => {
    const unindexed = await query(
      url,
      `select conname from pg_constraint c where contype = 'f' and connamespace = 'auth'::regnamespace
        and not exists (select from pg_index i where i.indrelid = c.conrelid
          and i.indkey[0] = c.conkey[1] and i.indpred is null)`,
    )
    assert.deepEqual(unindexed, [])
  })

  test('sets a fillfactor for updated tables and indexes no column that a refresh or sign-in changes', async () => {
    const filled = await query(
      url,
      `select relname, reloptions[1] as setting from pg_class
        where relnamespace = 'auth'::regnamespace and reloptions[1] like 'fillfactor=%'
          and relname in ('identities', 'sessions', 'users') order by 1`,
    )
    assert.deepEqual(
      filled.map(({ relname, setting }) => `${relname} ${setting}`),
      ['identities fillfactor=90', 'sessions fillfactor=85', 'users fillfactor=90'],
    )
    const indexed = await query(
      url,
      `select indexrelid::regclass::text as name from pg_depend
        join pg_index on indexrelid = objid and indrelid = refobjid
        join pg_attribute on attrelid = refobjid and attnum = refobjsubid
        where refobjid in ('auth.sessions'::regclass, 'auth.users'::regclass, 'auth.identities'::regclass)
          and attname in ('last_sign_in_at', 'updated_at', 'refreshed_at', 'refresh_token_counter', 'user_agent', 'ip')`,
    )
    assert.deepEqual(indexed, [])
  })

  test('writes the empty string where GoTrue cannot read null', async () => {
    const [row] = await query(
      url,
      `insert into auth.users (id) values (gen_random_uuid())
        returning confirmation_token, recovery_token, email_change_token_new, email_change,
          email_change_token_current, phone_change, phone_change_token, reauthentication_token,
          email_change_confirm_status`,
    )
    assert.ok(row)
    const { email_change_confirm_status, ...texts } = row
    assert.equal(email_change_confirm_status, 0)
    assert.deepEqual(new Set(Object.values(texts)), new Set(['']))
  })

  test('keeps emails unique except for SSO users', async () => {
    const insert = (sso: boolean) =>
      query(
        url,
        `insert into auth.users (id, email, is_sso_user)
          values (gen_random_uuid(), 'twice@example.com', ${sso})`,
      )
    await insert(false)
    await insert(true)
    await insert(true)
    await assert.rejects(insert(false), /users_email_partial_key/)
  })

  test('allows one current signing key', async () => {
    await query(
      url,
      `${signingKey} ('a', 'RS256', 'current', '', '{}', now()), ('b', 'RS256', 'standby', '', '{}', now())`,
    )
    const second = query(url, `${signingKey} ('c', 'RS256', 'current', '', '{}', now())`)
    await assert.rejects(second, /postern_signing_keys_current_key/)
  })

  test('deletes all rows of a deleted user', async () => {
    const id = '99999999-9999-4999-8999-999999999999'
    await query(
      url,
      `insert into auth.users (id) values ('${id}')`,
      `insert into auth.sessions (id, user_id) values ('${id}', '${id}')`,
      `insert into auth.refresh_tokens (token, session_id) values ('t', '${id}')`,
      `insert into auth.one_time_tokens (id, user_id, token_type, token_hash, relates_to)
        values ('${id}', '${id}', 'recovery_token', 'hash', '')`,
      `delete from auth.users where id = '${id}'`,
    )
    const left = await query(
      url,
      `select id::text from auth.sessions union all select token from auth.refresh_tokens
        union all select id::text from auth.one_time_tokens`,
    )
    assert.deepEqual(left, [])
  })
})

test('creates objects in the configured schema and its queue only', async (t) => {
  const { url } = await emptyDatabase(t)

  await migrated(url, 'Who is it')

  const schemas = await query(
    url,
    `select distinct relnamespace::regnamespace::text as name from pg_class
      where relkind = 'r' and relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
      order by 1`,
  )
  assert.deepEqual(schemas, [{ name: '"Who is it"' }, { name: '"Who is it_jobs"' }])
  assert.deepEqual(await query(url, 'select "Who is it".uid()'), [{ uid: null }])
})
