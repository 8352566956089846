/** `npm run takeover`: what undo removes and restores, what finish encrypts, and when both stop with an error. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'

import { run } from '../../../cli/takeover/index.ts'
import { knownGotrueVersions } from '../../../db/migrations/gotrue-level.ts'
import { migrated, query } from '../../db/sql.ts'
import { cloneOfMade, openPool, type TestDatabase, withoutDrop } from '../../support/database.ts'
import { addTotp, stepUp } from '../../support/factors/factors.ts'
import { gotrueDatabase, migratedGotrueDatabase } from '../../support/gotrue/database.ts'
import { gotrueSealed } from '../../support/gotrue/encryption.ts'
import { read } from '../../support/gotrue/reader.ts'
import { refresh } from '../../support/gotrue/sessions.ts'
import { findByEmail, openLink } from '../../support/gotrue/users.ts'
import { emailAfter } from '../../support/messages/mail-journeys.ts'
import { linkIn } from '../../support/messages/mail-links.ts'
import { callCommand } from '../../support/processes/command-call.ts'
import { type Ending, lastFirst } from '../../support/processes/ending.ts'
import { sharedDatabase } from '../../support/processes/shared-database.ts'
import { untilRows } from '../../support/processes/until.ts'
import { call } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { confirmedUser, newAddress } from '../../support/users.ts'

const key = randomBytes(32)
const gotrueKey = {
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT: 'true',
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID: 'k1',
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY: key.toString('base64url'),
  AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: `k1:${key.toString('base64url')}`,
}

const settings = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: randomBytes(32).toString('base64url'),
}

const takeover = (database: TestDatabase, command: string, env: Record<string, string> = {}) =>
  callCommand(run, [command], { ...settings, DATABASE_URL: database.url, ...env })

async function done(database: TestDatabase, command: string, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await takeover(database, command, env)
  assert.equal(code, 0, stderr)
  return stdout
}

/** All that is in the database, by name and definition. */
async function everything(database: TestDatabase) {
  return query(
    database.url,
    `select 'relation' as kind, relnamespace::regnamespace::text || '.' || relname as name, relkind::text as value
        from pg_class where relnamespace::regnamespace::text !~ '^pg_|^information_schema$'
      union all select 'column', attrelid::regclass || '.' || attname,
        concat_ws(' ', atttypid::regtype, attnotnull, pg_get_expr(adbin, adrelid)) from pg_attribute
        left join pg_attrdef on adrelid = attrelid and adnum = attnum join pg_class on pg_class.oid = attrelid
        where relnamespace = 'auth'::regnamespace and attnum > 0 and not attisdropped
      union all select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
        from pg_constraint where connamespace = 'auth'::regnamespace
      union all select 'index', indexrelid::regclass::text, pg_get_indexdef(indexrelid)
        from pg_index join pg_class on pg_class.oid = indexrelid where relnamespace = 'auth'::regnamespace
      union all select 'function', oid::regprocedure::text, prosrc from pg_proc where pronamespace = 'auth'::regnamespace
      union all select 'type', oid::regtype::text, typtype::text from pg_type where typnamespace = 'auth'::regnamespace
      union all select 'trigger', tgname || ' ' || tgrelid::regclass, pg_get_triggerdef(oid) from pg_trigger
        where not tgisinternal
      union all select 'schema', nspname, '' from pg_namespace
      union all select 'version', version, '' from auth.schema_migrations
      order by 1, 2, 3`,
  )
}

/** The functions of the schema `auth`, with their arguments. */
async function listFunctions(database: TestDatabase): Promise<string[]> {
  const found = await query(
    database.url,
    `select format('%s(%s)', proname, pg_get_function_identity_arguments(oid)) as name
      from pg_proc where pronamespace = 'auth'::regnamespace order by 1`,
  )
  return found.map(({ name }) => String(name))
}

type Account = Awaited<ReturnType<typeof live>>

/** A server has worked on it and has stopped. */
const livedDatabase = (() => {
  let account: Account | undefined
  const make = async () => {
    const database = await migratedGotrueDatabase()
    account = await live(database, {})
    return database
  }
  return async (t: Ending) => {
    const database = await cloneOfMade(`lived_${process.pid}`, make, t)
    return { database, account: account ?? assert.fail('made by another process') }
  }
})()

/** A user with a TOTP factor, a session and an unopened recovery email, as a server leaves them when it stops. */
async function live({ url }: TestDatabase, env: Record<string, string>) {
  const stops: (() => Promise<void>)[] = []
  const ending = lastFirst({ after: (stop) => void stops.push(stop) })
  const database = withoutDrop({ url })
  try {
    const server = await build(ending, { database, env: { ...settings, ...env } })
    const email = newAddress()
    const user = await confirmedUser(server, email)
    const factor = await addTotp(server.app, user)
    const session = await stepUp(server.app, user, factor)
    const message = await emailAfter(server, email, () => call(server.app, '/recover', { email }))
    const hash = String(new URL(linkIn(message)).searchParams.get('token'))
    return { id: user.user.id, email, token: session.refresh_token, secret: factor.secret, hash }
  } finally {
    for (const stop of stops) await stop()
  }
}

suite('takeover undo', () => {
  test('removes everything of Postern from the database', async (t) => {
    const before = await everything(await gotrueDatabase(t))
    const { database } = await livedDatabase(t)
    assert.notDeepEqual(await everything(database), before)

    assert.match(await done(database, 'undo'), /^Undone: 0 secrets were returned/)

    const after = await everything(database)
    assert.deepEqual(after, before)
    // Compared by name too: undo itself prepared the database of the test.
    const ours = after.filter(({ name }) => /auth_jobs|postern_/.test(String(name)))
    assert.deepEqual(ours, [])
    assert.deepEqual(await listFunctions(database), ['email()', 'jwt()', 'role()', 'uid()'])
  })

  test('leaves a unique index away when users of a connection share an externalId', async (t) => {
    const database = await migratedGotrueDatabase(t)
    const id = crypto.randomUUID()
    await query(
      database.url,
      `insert into auth.sso_providers (id) values ('${id}')`,
      `insert into auth.scim_users (id, sso_provider_id, resource) select gen_random_uuid(), '${id}',
        jsonb_build_object('userName', name, 'externalId', 'e') from unnest(array['ann', 'bert']) as name`,
    )
    assert.match(await done(database, 'undo'), /^Users of a SCIM connection share an externalId/m)
    const left = await query(database.url, 'select count(*)::int as count from auth.scim_users')
    assert.deepEqual(left, [{ count: 2 }])
  })

  test('keeps a function of organizations that a policy uses', async (t) => {
    const database = await migratedGotrueDatabase(t)
    await query(
      database.url,
      'create table public.notes (organization uuid)',
      'create policy own on public.notes using (organization = auth.org_id())',
    )

    const printed = await done(database, 'undo')

    assert.match(printed, /^Kept, because your policies use them: auth\.org_id\(\)\.$/m)
    assert.deepEqual(await listFunctions(database), [
      'email()',
      'jwt()',
      'org_id()',
      'role()',
      'uid()',
    ])
  })

  test('keeps a function of the operator with the name of one for organizations', async (t) => {
    const database = await gotrueDatabase(t)
    await query(
      database.url,
      "create function auth.org_id() returns uuid language sql as 'select null::uuid'",
    )
    const before = await everything(database)
    await migrated(database.url)

    await done(database, 'undo')

    assert.deepEqual(await everything(database), before)
    assert.ok((await listFunctions(database)).includes('org_id()'))
  })

  const forms = [
    { what: 'in plain text', env: {}, seal: (_id: string, secret: string) => secret },
    {
      what: 'under the operator’s key',
      env: gotrueKey,
      seal: (id: string, secret: string) => gotrueSealed('k1', key, id, secret),
    },
  ]
  for (const { what, env, seal } of forms) {
    test(`restores secrets ${what}, also after finish`, async (t) => {
      const database = await migratedGotrueDatabase(t)
      const { id } = await live(database, env)
      assert.match(
        await done(database, 'finish', env),
        /^Finished: [1-9]\d* secrets were encrypted/,
      )
      const selectSecrets = () =>
        query(
          database.url,
          `select refresh_token_hmac_key as value from auth.sessions union all select secret from auth.mfa_factors`,
        )
      for (const { value } of await selectSecrets()) {
        assert.match(String(value), /^\{/)
        assert.doesNotMatch(String(value), /"key_id":"k1"/)
      }

      assert.match(await done(database, 'undo', env), /^Undone: [1-9]\d* secrets/)

      const form = seal(id, '').startsWith('{') ? /"key_id":"k1"/ : /^[\w-]{32,43}$/
      for (const { value } of await selectSecrets()) assert.match(String(value), form)
    })
  }

  test('GoTrue’s statements succeed afterwards for users, sessions, factors and links', async (t) => {
    const t2 = lastFirst(t)
    const { database, account } = await livedDatabase(t2)
    const { id, email, token, secret, hash } = account
    await done(database, 'undo')

    const pool = openPool({ connectionString: database.url, max: 4 })
    t2.after(() => pool.end())
    assert.equal((await findByEmail(pool, email))[0]?.id, id)
    const next = await refresh(pool, token)
    assert.ok(next && (await refresh(pool, next)))
    const [factor] = await read(pool, 'mfa_factors', 'user_id = $1', id)
    assert.deepEqual([factor?.secret, factor?.status], [secret, 'verified'])
    assert.equal(await openLink(pool, hash), id)
  })

  test('deletes impersonated sessions only', async (t) => {
    const { database, account } = await livedDatabase(t)
    const { id } = account
    const [impersonated = {}] = await query(
      database.url,
      `insert into auth.sessions (id, user_id) values (gen_random_uuid(), '${id}') returning id`,
    )
    await query(
      database.url,
      `insert into auth.postern_impersonations (session_id, impersonated_by) values ('${impersonated.id}', '${id}')`,
    )
    const listSessionIds = async () =>
      (await query(database.url, 'select id from auth.sessions order by id')).map((row) => row.id)
    const before = await listSessionIds()

    await done(database, 'undo')

    assert.deepEqual(
      await listSessionIds(),
      before.filter((session) => session !== impersonated.id),
    )
  })

  test('a later start migrates the database again', async (t) => {
    const database = await migratedGotrueDatabase(t)
    await done(database, 'undo')
    await migrated(database.url)
    assert.match(await done(database, 'status'), /^Shared with GoTrue since /)
  })

  test('gives a database created by Postern GoTrue’s list of migrations', async (t) => {
    const server = await build(t)
    await server.app.close()
    await done(server.database, 'undo')
    const versions = await query(
      server.database.url,
      'select version from auth.schema_migrations order by version',
    )
    assert.deepEqual(
      versions.map(({ version }) => version),
      knownGotrueVersions,
    )
  })
})

suite('takeover: rejected commands', () => {
  const untouched = sharedDatabase(gotrueDatabase)

  test('undo is rejected while a Postern server is connected', async (t) => {
    const { database } = await build(t)
    // The queue of a server that has just started listens a moment later.
    await untilRows(() =>
      query(
        database.url,
        `select pid from pg_stat_activity where datname = current_database()
          and application_name = 'postern' and query ilike 'listen %'`,
      ),
    )
    const { code, stderr } = await takeover(database, 'undo')
    assert.deepEqual([code, stderr], [1, 'A server still uses the database: stop it first.\n'])
  })

  test('undo is rejected without a migration', async () => {
    const { code, stderr } = await takeover(await untouched(), 'undo')
    assert.equal(code, 1)
    assert.match(stderr, /^There is nothing to undo/)
  })

  test('undo is rejected without the encryption key and changes nothing', async (t) => {
    const { database } = await livedDatabase(t)
    await done(database, 'finish')
    const before = await everything(database)

    const other = { AUTH_JWT_SECRET: randomBytes(32).toString('base64url') }
    const { code, stderr } = await takeover(database, 'undo', other)

    assert.equal(code, 1)
    assert.match(stderr, /cannot be decrypted\. Set AUTH_ENCRYPTION_KEY/)
    assert.deepEqual(await everything(database), before)
  })

  test('finish is rejected without GoTrue’s key and keeps the database shared', async (t) => {
    const { database } = await livedDatabase(t)
    await query(
      database.url,
      `update auth.mfa_factors set secret = '${gotrueSealed('lost', key, 'id', 'secret')}'`,
    )
    const stored = () =>
      query(
        database.url,
        `select refresh_token_hmac_key as value from auth.sessions union all select secret from auth.mfa_factors
          union all select recovery_token from auth.users union all select state from auth.postern_takeover`,
      )
    const before = await stored()

    const { code, stderr } = await takeover(database, 'finish')

    assert.equal(code, 1)
    assert.match(stderr, /the key that GoTrue knew as "lost"/)
    assert.deepEqual(await stored(), before)
  })

  for (const args of [[], ['back'], ['undo', 'now'], ['constructor']]) {
    test(`rejects the arguments ${JSON.stringify(args)}`, async () => {
      const { url } = await untouched()
      const { code, stderr } = await callCommand(run, args, { ...settings, DATABASE_URL: url })
      assert.equal(code, 1)
      assert.match(stderr, /^Usage:\nnpm run takeover -- check/)
    })
  }
})

suite('takeover status', () => {
  test('prints each state', async (t) => {
    const database = await gotrueDatabase(t)
    assert.match(await done(database, 'status'), /has not been started on the database yet/)
    await migrated(database.url)
    assert.match(await done(database, 'status'), /^Shared with GoTrue since \d{4}-/)
    await done(database, 'finish')
    assert.match(await done(database, 'status'), /^This server's own since \d{4}-/)
  })

  test('prints the state of a database created by Postern', async (t) => {
    const { database } = await build(t)
    assert.equal(await done(database, 'status'), "This server's own.\n")
  })
})
