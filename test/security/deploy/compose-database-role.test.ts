/**
 * A server connected as superuser lets an attacker who controls it read files and run programs on the database host.
 * The server’s role owns its schemas and has no other privilege.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import pino from 'pino'
import { parse } from 'yaml'

import type { RunningPostgres } from '../../../dev/postgres/index.ts'
import { startServer } from '../../../server.ts'
import { migrated, query } from '../../db/sql.ts'
import { composeWith } from '../../deploy/compose-file.ts'
import { testConfig } from '../../support/config.ts'
import { freePort } from '../../support/processes/free-port.ts'
import { needed } from '../../support/processes/server-process.ts'
import { startThrowawayPostgres } from '../../support/processes/throwaway-postgres.ts'
import { password } from '../../support/users.ts'

interface Service {
  environment?: Record<string, string>
  env_file?: unknown
  ports?: string[]
  volumes?: string[]
}

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { services }: { services: Record<string, Service> } = parse(read('docker-compose.yml'), {
  merge: true,
})

suite('database role of the server', () => {
  let postgres: RunningPostgres
  const as = (username: string) => Object.assign(new URL(postgres.url), { username }).href
  before(async () => {
    postgres = await startThrowawayPostgres()
    await query(postgres.url, initScript())
  })
  after(() => postgres.stop())

  test('migrates without superuser and owns its schemas', async () => {
    assert.deepEqual(await migrated(as('postern')), [])
    const owners = await query(
      postgres.url,
      `select distinct relowner::regrole::text as owner, relnamespace::regnamespace::text as schema
        from pg_class where relnamespace::regnamespace::text in ('auth', 'auth_jobs') order by 2`,
    )
    assert.deepEqual(owners, [
      { owner: 'postern', schema: 'auth' },
      { owner: 'postern', schema: 'auth_jobs' },
    ])
    const indexes = await query(
      postgres.url,
      "select from pg_indexes where indexname = 'postern_users_trigram_idx'",
    )
    assert.equal(indexes.length, 1)
  })

  test('starts, signs users up and in, and starts again', async (t) => {
    for (const address of ['ann@example.com', 'bea@example.com']) {
      const PORT = String(await freePort())
      const env = { ...needed, DATABASE_URL: as('postern'), AUTH_MAILER_AUTOCONFIRM: 'true', PORT }
      const app = await startServer(testConfig(env, false), pino({ level: 'silent' }))
      t.after(() => app.close())
      const url = `http://127.0.0.1:${PORT}`
      const post = (path: string) =>
        fetch(url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email: address, password }),
        })
      assert.equal((await post('/signup')).status, 200)
      assert.equal((await post('/token?grant_type=password')).status, 200)
      assert.equal((await fetch(`${url}/ready`)).status, 200)
    }
  })

  test('has no role attributes or memberships', async () => {
    const [role] = await query(
      postgres.url,
      `select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls
        from pg_roles where rolname = 'postern'`,
    )
    assert.deepEqual(new Set(Object.values(role ?? {})), new Set([false]))
    const memberships = "select from pg_auth_members where member = 'postern'::regrole"
    assert.deepEqual(await query(postgres.url, memberships), [])
  })

  const forbidden = [
    "select pg_read_file('/etc/passwd')",
    "copy (select 1) to program 'true'",
    "copy (select 1) to '/tmp/x'",
    "alter system set log_connections = 'on'",
    'create role other',
    'create schema other',
    'create database other',
    'create extension file_fdw',
    'create table public.other (a int)',
    'select rolpassword from pg_authid',
    'set role postgres',
    'set role service_role',
    'alter role postern superuser',
    'drop table if exists public.notes',
    'select * from public.notes',
  ]
  for (const statement of forbidden) {
    test(`cannot ${statement}`, async () => {
      await query(postgres.url, 'create table if not exists public.notes (a int)')
      await assert.rejects(query(as('postern'), statement), /denied|must be|permission|cannot/i)
    })
  }

  test('the REST role has no privileges before it assumes the role of a token', async () => {
    const rest = as('authenticator')
    await assert.rejects(query(rest, 'select from auth.users'), /permission denied/)
    for (const role of ['anon', 'authenticated', 'service_role']) {
      const rows = await query(rest, `set role ${role}`, 'select current_user, auth.uid()')
      assert.deepEqual(rows, [{ current_user: role, uid: null }])
    }
    await assert.rejects(query(rest, 'set role postern'), /permission denied/)
    await assert.rejects(query(rest, 'set role postgres'), /permission denied/)
  })
})

suite('docker-compose.yml', () => {
  const named = Object.entries(services)

  test('gives the superuser password to the database service only', () => {
    assert.ok(services.postgres?.environment?.POSTGRES_PASSWORD)
    for (const [name, { environment = {}, env_file }] of named) {
      if (name === 'postgres') continue
      const { POSTGRES_PASSWORD, ...others } = environment
      // .env contains it, so services that read all of .env clear it.
      assert.equal(POSTGRES_PASSWORD ?? '', '', name)
      if (env_file) assert.equal(POSTGRES_PASSWORD, '', name)
      for (const [variable, value] of Object.entries(others)) {
        const isSuperuser = variable === 'DB_USER' && value === 'postgres'
        assert.ok(!/POSTGRES_PASSWORD|\/\/postgres:/.test(value), `${name} ${variable}`)
        assert.ok(!isSuperuser, name)
      }
    }
  })

  test('runs the role script in a new database', () => {
    const mounts = services.postgres?.volumes ?? []
    const script = mounts.find((mount) => mount.startsWith('./deploy/init-database.sql:'))
    assert.match(script ?? '', /:\/docker-entrypoint-initdb\.d\/[\w-]+\.sql:ro$/)
    for (const [, variable = ''] of read('deploy/init-database.sql').matchAll(
      /^\\getenv \w+ (\w+)$/gm,
    )) {
      assert.ok(services.postgres?.environment?.[variable], variable)
    }
  })

  test('binds ports without TLS to loopback', () => {
    const proxies = ['tls', 'nginx', 'traefik']
    for (const [name, { ports = [] }] of named.filter(([name]) => !proxies.includes(name))) {
      for (const port of ports) assert.match(port, /^127\.0\.0\.1:/, name)
    }
    const published = proxies.map((name) => services[name]?.ports)
    const tcp = ['80:80', '443:443']
    assert.deepEqual(published, [[...tcp, '443:443/udp'], tcp, tcp])
    assert.deepEqual(services.postgres?.ports, undefined)
  })

  test('serves metrics on loopback only', () => {
    const secrets = {
      POSTGRES_PASSWORD: 'a',
      POSTERN_PASSWORD: 'b',
      AUTH_JWT_SECRET: 'c',
      AUTH_ENCRYPTION_KEY: 'd',
    }
    const { environment, ports } = composeWith(secrets).services.postern ?? {}
    assert.equal(String(environment?.AUTH_METRICS_ENABLED), 'true')
    assert.equal(environment?.AUTH_METRICS_EXPORTER, 'prometheus')
    assert.ok(ports?.includes('127.0.0.1:9100:9100'))
  })
})

/** The script as psql hands it over. */
function initScript(): string {
  return read('deploy/init-database.sql')
    .replace(/^\\getenv .*$/gm, '')
    .replace(/:'\w+'/g, "'it''s a password'")
}
