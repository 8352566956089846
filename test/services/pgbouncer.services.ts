import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { AuthClient } from '@supabase/auth-js'
import Fastify from 'fastify'
import pg from 'pg'

import jobQueue from '../../plugins/background/job-queue/index.ts'
import config from '../../plugins/config.ts'
import db from '../../plugins/database/db.ts'
import pool from '../../plugins/database/pool/index.ts'
import context from '../../plugins/observability/request-context/index.ts'
import telemetry from '../../plugins/observability/telemetry/index.ts'
import { testConfig } from '../support/config.ts'
import { cloneDatabase, emptyDatabase } from '../support/database.ts'
import { linkIn } from '../support/messages/mail-links.ts'
import { startMailServer } from '../support/messages/mail-server.ts'
import { lastFirst } from '../support/processes/ending.ts'
import { serviceRole, startServerProcess } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'
import { missing, startPgbouncer } from './programs.ts'

const skip = missing('pgbouncer')
/** Settings that PgBouncer resets itself when it passes a connection on. */
const followed = [
  'application_name',
  'client_encoding',
  'DateStyle',
  'TimeZone',
  'standard_conforming_strings',
]
const password = 'correct horse battery staple'

function createClient(url: string) {
  return new AuthClient({ url, autoRefreshToken: false, persistSession: false })
}

async function journey(t: TestContext, env: Record<string, string>) {
  const mail = await startMailServer(t)
  const server = await startServerProcess(t, { ...mail.env, ...env })
  const client = createClient(server.url)
  const email = `${crypto.randomUUID()}@example.com`
  const { error } = await client.signUp({ email, password })
  assert.equal(error, null)
  await until(() => mail.messages.length === 1)
  const [message] = mail.messages
  assert.ok(message)
  await fetch(linkIn(message).replace('http://auth.example', server.url), { redirect: 'manual' })
  const signedIn = await client.signInWithPassword({ email, password })
  assert.equal(signedIn.error, null)
  for (let i = 0; i < 5; i++) assert.equal((await client.refreshSession()).error, null)
  assert.equal((await client.getUser()).data.user?.email, email)
  assert.equal((await client.signOut()).error, null)
  return server
}

suite('PgBouncer in transaction mode', { skip }, () => {
  test('runs migrations, sign-up with email, sign-in, refresh and logout', async (t) => {
    const database = await emptyDatabase(t)
    const pooler = await startPgbouncer(t, database.url)
    await journey(t, { DATABASE_URL: pooler.url, AUTH_DB_PREPARED_STATEMENTS: 'false' })
  })

  test('replicas find a new key by polling without notifications', async (t) => {
    const database = await cloneDatabase(t)
    const pooler = await startPgbouncer(t, database.url)
    const env = { DATABASE_URL: pooler.url, AUTH_DB_PREPARED_STATEMENTS: 'false' }
    const first = await startServerProcess(t, env)
    const second = await startServerProcess(t, env)
    const keys = async (url: string) => {
      const { keys } = JSON.parse(await (await fetch(`${url}/.well-known/jwks.json`)).text())
      return keys.length
    }
    const known = await keys(second.url)
    const response = await fetch(`${first.url}/admin/keys`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await serviceRole()}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ action: 'rotate' }),
    })
    assert.ok(response.ok, String(response.status))
    await until(async () => (await keys(second.url)) === known + 1)
  })

  test('ten concurrent migrations succeed', async (t) => {
    const database = await emptyDatabase(t)
    const pooler = await startPgbouncer(t, database.url)
    const { runMigrations } = await import('../../server/migrate.ts')
    const log = { debug() {}, info() {}, warn() {} }
    const run = () => runMigrations({ connectionString: pooler.url, schema: 'auth', log })
    await Promise.all(Array.from({ length: 10 }, run))
  })

  test('settings of the job queue’s connections do not affect others', async (t) => {
    const ending = lastFirst(t)
    const database = await cloneDatabase(ending)
    const pooler = await startPgbouncer(ending, database.url)
    const app = Fastify()
    ending.after(() => app.close())
    await app.register(config, { config: testConfig({ DATABASE_URL: pooler.url }) })
    for (const plugin of [context, telemetry, pool, db, jobQueue]) await app.register(plugin)
    await app.ready()
    await until(() => app.jobQueue.downMs() === 0)

    const clients = Array.from({ length: 8 }, () => new pg.Client(pooler.url))
    ending.after(async () => void (await Promise.all(clients.map((client) => client.end()))))
    const set = clients.map(async (client) => {
      await client.connect()
      // Until it ends, a transaction has an exclusive Postgres connection.
      await client.query('begin')
      const { rows } = await client.query(
        "select name from pg_settings where source = 'session' and name <> all ($1)",
        [followed],
      )
      return rows
    })
    assert.deepEqual((await Promise.all(set)).flat(), [])
  })

  test('cancels a statement that waits for a lock when its request times out', async (t) => {
    const database = await cloneDatabase(t)
    const pooler = await startPgbouncer(t, database.url)
    const server = await startServerProcess(t, {
      DATABASE_URL: pooler.url,
      AUTH_DB_PREPARED_STATEMENTS: 'false',
      AUTH_API_MAX_REQUEST_DURATION: '1s',
      AUTH_MAILER_AUTOCONFIRM: 'true',
    })
    const locker = new pg.Client({ connectionString: database.url })
    locker.on('error', () => {})
    await locker.connect()
    t.after(() => locker.end())
    await locker.query('begin; lock table auth.identities in access exclusive mode')

    const response = await fetch(`${server.url}/signup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'held@example.com', password }),
    })

    assert.equal(response.status, 504)
    await until(async () => {
      await locker.query('select pg_stat_clear_snapshot()')
      const { rows } = await locker.query(
        `select query from pg_stat_activity where datname = current_database()
          and backend_type = 'client backend' and pid <> pg_backend_pid() and state <> 'idle'`,
      )
      return rows.length === 0
    })
    await locker.query('rollback')
    const { rows: users } = await locker.query('select from auth.users')
    assert.equal(users.length, 0)
  })
})
