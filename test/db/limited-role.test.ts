import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, suite, type TestContext, test } from 'node:test'

import { prepareQueueSchema } from '../../db/jobs/jobs.ts'
import { openMigrationDb } from '../../db/migrate/migration-db.ts'
import type { RunningPostgres } from '../../dev/postgres/index.ts'
import { cloneDatabase, emptyDatabase, openPool } from '../support/database.ts'
import { startThrowawayPostgres } from '../support/processes/throwaway-postgres.ts'
import { beforeStatement } from '../support/statements.ts'
import { columns, migrated, query } from './sql.ts'

suite('role without superuser', () => {
  test('migrates its own database and owns the tables', async (t) => {
    const { url, login } = await limited(t)
    await query(url, `alter database ${new URL(url).pathname.slice(1)} owner to ${login.name}`)

    await migrated(login.url)

    const [table] = await query(
      url,
      `select relowner::regrole::text from pg_class where oid = 'auth.users'::regclass`,
    )
    assert.equal(table?.relowner, login.name)
  })

  test('migrates a schema created for it', async (t) => {
    const { url, login } = await limited(t)
    await query(
      url,
      `create schema auth authorization ${login.name}`,
      `grant create on database ${new URL(url).pathname.slice(1)} to ${login.name}`,
    )

    await migrated(login.url)

    assert.ok((await columns(url)).has('users.id'))
  })
})

suite('schema of another role', () => {
  const states: { title: string; prepare: (login: string) => string[]; cures: number }[] = [
    { title: 'without the schemas', prepare: () => [], cures: 2 },
    {
      title: 'with the right to use the schema',
      prepare: (login) => [
        'create schema auth',
        'create schema auth_jobs',
        `grant usage on schema auth to ${login}`,
      ],
      cures: 2,
    },
    { title: 'without a right to the schema', prepare: () => ['create schema auth'], cures: 2 },
    {
      title: 'with the right to create in it',
      prepare: (login) => [
        'create schema auth',
        `grant usage, create on schema auth to ${login}`,
        `create schema auth_jobs authorization ${login}`,
      ],
      cures: 0,
    },
  ]
  for (const { title, prepare, cures } of states) {
    test(`is migrated ${title} after the statements of the error`, async (t) => {
      const { url, login } = await limited(t)
      await query(url, ...prepare(login.name))
      const statements = await obey(url, login.url)
      assert.equal(statements.length, cures, statements.join('\n'))
      assert.ok((await columns(url)).has('users.id'))
    })
  }

  test('is migrated with the tables of another role after the statement of the error', async (t) => {
    const { url, login: owner } = await limited(t)
    const other = `other_${randomBytes(6).toString('hex')}`
    t.after(() => query(String(process.env.TEST_ADMIN_URL), `drop role ${other}`))
    await query(
      url,
      `create schema auth authorization ${owner.name}`,
      `create schema auth_jobs authorization ${owner.name}`,
      `create role ${other} login password 'secret'`,
    )
    await migrated(owner.url)
    await query(url, `grant usage on schema auth to ${other}`)
    const otherUrl = Object.assign(new URL(owner.url), { username: other }).href
    assert.deepEqual(await obey(url, otherUrl), [`grant ${owner.name} to ${other};`])
  })
})

/** Starts until it succeeds, and runs the SQL that each error names. Returns the statements. */
async function obey(adminUrl: string, loginUrl: string): Promise<string[]> {
  const statements: string[] = []
  for (let start = 0; start < 3; start++) {
    const error = await migrated(loginUrl).then(() => undefined, String)
    if (error === undefined) return statements
    const named = error.match(/(?<=: )(create|grant) [^:;]+;/g) ?? []
    assert.ok(named.length > 0, error)
    await query(adminUrl, ...named)
    statements.push(...named)
  }
  throw new Error(`The login still may not migrate after: ${statements.join(' ')}`)
}

suite('schema of the job queue created for a role', () => {
  test('is prepared although another replica prepares it at the same moment', async (t) => {
    const { url, login } = await limited(t)
    await query(url, `create schema auth_jobs authorization ${login.name}`)
    const pool = openPool({ connectionString: login.url })
    t.after(() => pool.end())
    const table = 'create table auth_jobs.migrations (id int primary key)'
    beforeStatement(pool, /create table/, () => query(login.url, table))

    await prepareQueueSchema(openMigrationDb(pool).db, 'auth_jobs')

    assert.deepEqual(await query(url, 'select from auth_jobs.migrations'), [])
  })
})

suite('unusable database', () => {
  const cases: {
    what: string
    prepare: (name: string) => string[]
    message: (name: string) => string
  }[] = [
    {
      what: 'rejects tables of another role',
      prepare: (name) => [`grant usage on schema auth to ${name}`],
      message: (name) =>
        `The login ${name} does not own the tables of the schema auth, and row-level security hides their rows from it: connect as their owner postgres, or run as a superuser: grant postgres to ${name};`,
    },
    {
      what: 'rejects a schema without privileges',
      prepare: () => [],
      message: (name) =>
        `The login ${name} may not use the schema auth: connect as its owner postgres, or run as this role or a superuser: grant usage, create on schema auth to ${name};`,
    },
    {
      what: 'rejects forced row-level security',
      prepare: (name) => [
        `alter schema auth owner to ${name}`,
        `alter table auth.users owner to ${name}`,
        'alter table auth.users force row level security',
      ],
      message: () => 'alter table auth.users no force row level security;',
    },
    {
      what: 'rejects a read-only role',
      prepare: (name) => [`alter role ${name} set default_transaction_read_only = on`],
      message: (name) => `alter role ${name} set default_transaction_read_only = off;`,
    },
  ]
  for (const { what, prepare, message } of cases) {
    test(what, async (t) => {
      const { url, login } = await limited(t, cloneDatabase)
      await query(url, ...prepare(login.name))
      await assert.rejects(migrated(login.url), (error: Error) => {
        assert.equal(error.name, 'UnusableDatabaseError')
        assert.ok(error.message.includes(message(login.name)), error.message)
        return true
      })
    })
  }

  test('rejects an encoding other than Unicode', async (t) => {
    const { url } = await emptyDatabase(t)
    const name = new URL(url).pathname.slice(1)
    await query(
      String(process.env.TEST_ADMIN_URL),
      `drop database ${name}`,
      `create database ${name} template template0 encoding 'LATIN1' locale_provider libc locale 'C'`,
    )
    await assert.rejects(migrated(url), { message: /^The database .* encoding is LATIN1/ })
    assert.deepEqual(await query(url, `select 1 from pg_namespace where nspname ~ '^auth'`), [])
  })

  test('reports the error of an event trigger', async (t) => {
    const { url } = await emptyDatabase(t)
    await query(
      url,
      `create function forbid() returns event_trigger language plpgsql as
        $$ begin raise exception 'tables are made by the DBA'; end $$`,
      "create event trigger forbidden on ddl_command_start when tag in ('CREATE TABLE') execute function forbid()",
    )
    await assert.rejects(migrated(url), { message: 'tables are made by the DBA' })
  })
})

suite('missing roles', () => {
  // Roles belong to the whole server, so these tests use a server of their own.
  let postgres: RunningPostgres
  before(async () => {
    postgres = await startThrowawayPostgres()
  })
  after(() => postgres.stop())

  const logins: { may: string; warned: string[]; made: string[] }[] = [
    { may: 'login', warned: ['anon', 'authenticated', 'service_role'], made: [] },
    { may: 'login createrole', warned: ['service_role'], made: ['anon', 'authenticated'] },
    {
      may: 'login superuser',
      warned: [],
      made: ['anon', 'authenticated', 'service_role'],
    },
  ]
  for (const { may, warned, made } of logins) {
    test(`${may}: creates ${made.length} and asks for ${warned.length}`, async () => {
      const adminUrl = postgres.url
      await query(
        adminUrl,
        'drop database if exists app with (force)',
        'drop role if exists tester, anon, authenticated, service_role',
        `create role tester ${may} password 'secret'`,
        'create database app owner tester',
      )
      const url = new URL(adminUrl)
      Object.assign(url, { username: 'tester', password: 'secret', pathname: '/app' })

      const warnings = await migrated(url.href)

      assert.equal(warnings.length, warned.length)
      for (const [i, role] of warned.entries()) {
        assert.match(String(warnings[i]), new RegExp(`The role ${role} is missing.*create role`))
      }
      const roles = await query(
        Object.assign(new URL(adminUrl), { pathname: '/app' }).href,
        `select rolname, has_schema_privilege(rolname, 'auth', 'usage') as usage from pg_roles
          where rolname in ('anon', 'authenticated', 'service_role') order by 1`,
      )
      assert.deepEqual(
        roles,
        made.map((rolname) => ({ rolname, usage: true })),
      )
    })
  }
})

/** A login that may do nothing but connect. */
async function limited(t: TestContext, make = emptyDatabase) {
  const { url, drop } = await make()
  const name = `limited_${randomBytes(6).toString('hex')}`
  await query(url, `create role ${name} login password 'secret'`)
  t.after(async () => {
    // First what the role owns.
    await drop()
    await query(String(process.env.TEST_ADMIN_URL), `drop role ${name}`)
  })
  const loginUrl = Object.assign(new URL(url), { username: name, password: 'secret' })
  return { url, login: { name, url: loginUrl.href } }
}
