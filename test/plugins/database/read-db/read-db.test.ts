/** Reads of admins from a replica: another database of the same server, whose content shows which one was read. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import { createPool } from '../../../../plugins/database/pool/index.ts'
import { parsePosition } from '../../../../plugins/database/read-db/replica.ts'
import { readServerState } from '../../../../plugins/database/read-db/server-state.ts'
import { query } from '../../../db/sql.ts'
import { adminCall, asAdmin } from '../../../support/admin.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { type Ending, lastFirst } from '../../../support/processes/ending.ts'
import { startTcpProxy } from '../../../support/processes/tcp-proxy.ts'
import { until } from '../../../support/processes/until.ts'
import { type App, build } from '../../../support/server.ts'
import { autoconfirm, password, signIn, signUp } from '../../../support/users.ts'

const onReplica = 'on-replica@example.com'

/** A server with a user in each database. */
async function withReplica(t: Ending, env: Record<string, string> = {}) {
  const replica = await cloneDatabase(t)
  const proxy = await startTcpProxy(replica.url)
  t.after(proxy.stop)
  await query(
    replica.url,
    `insert into auth.users (instance_id, id, aud, role, email, created_at)
     values ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'authenticated', 'authenticated', '${onReplica}', now())`,
    `insert into auth.audit_log_entries (instance_id, id, payload, created_at, ip_address)
     values ('00000000-0000-0000-0000-000000000000', gen_random_uuid(), '{"action": "on_replica"}', now(), '')`,
    `insert into auth.postern_usage_counts (hour, kind, name, outcome, count)
     values (date_trunc('hour', now()), 'sign_in', 'on_replica', 'success', 1)`,
  )
  const AUTH_DB_READ_URL = proxy.url
  const { app } = await build(t, { env: { ...autoconfirm, AUTH_DB_READ_URL, ...env } })
  const email = 'on-primary@example.com'
  assert.equal((await signUp(app, { email })).statusCode, 200)
  return { app, email, proxy, replica }
}

async function emails(app: App): Promise<(string | undefined)[]> {
  const { users } = await adminCall<{ users: { email?: string }[] }>(app, 'GET', '/admin/users')
  return users.map(({ email }) => email)
}

const readsReplica = (app: App) => until(async () => (await emails(app)).includes(onReplica))

suite('AUTH_DB_READ_URL', () => {
  test('lists, searches, exports, audit log and statistics read from the replica', async (t) => {
    const { app } = await withReplica(lastFirst(t), { AUTH_CONSOLE_ENABLED: 'true' })
    await readsReplica(app)
    const shown = async (url: string) => /on.replica/.test((await asAdmin(app, 'GET', url)).body)
    for (const url of [
      '/admin/users?q=on-replica',
      '/admin/users/export',
      '/admin/audit',
      '/admin/audit/export',
      '/admin/statistics',
    ]) {
      await until(() => shown(url), { missing: `${url} does not read from the replica` })
    }
  })

  test('sign-ins, tokens and single users read from the primary', async (t) => {
    const { app, email, replica } = await withReplica(lastFirst(t))
    await readsReplica(app)
    assert.equal((await signIn(app, { email, password })).statusCode, 200)
    const [user] = await query(replica.url, 'select id from auth.users')
    const response = await asAdmin(app, 'GET', `/admin/users/${user?.id}`)
    assert.equal(response.statusCode, 404)
  })

  test('reads fall back to the primary while the replica is down, and return to it', async (t) => {
    const { app, email, proxy } = await withReplica(lastFirst(t))
    await readsReplica(app)
    proxy.cut()
    for (let i = 0; i < 3; i++) assert.deepEqual(await emails(app), [email])
    proxy.restore()
    await readsReplica(app)
  })

  test('a read is repeated on the primary when its replica stops responding', async (t) => {
    const { app, proxy } = await withReplica(lastFirst(t))
    await readsReplica(app)
    proxy.lose()
    assert.equal((await emails(app)).length, 1)
  })

  test('a server without its replica starts and reads from the primary', async (t) => {
    const AUTH_DB_READ_URL = 'postgres://nobody@127.0.0.1:1/none'
    const { app } = await build(lastFirst(t), { env: { ...autoconfirm, AUTH_DB_READ_URL } })
    assert.deepEqual(await emails(app), [])
  })

  test('a statement that fails on the replica only is repeated on the primary', async (t) => {
    const { app, replica } = await withReplica(lastFirst(t))
    await readsReplica(app)
    const reasons: string[] = []
    app.telemetry.metrics.onCount((name, { reason = '' }) => {
      if (name === 'postern.read_replica.fallbacks') reasons.push(reason)
    })
    await query(replica.url, 'drop table auth.audit_log_entries cascade')
    await until(async () => {
      await adminCall(app, 'GET', '/admin/audit')
      return reasons.includes('failed')
    })
  })

  test('a login without special privileges measures the lag', async (context) => {
    const t = lastFirst(context)
    const name = `reader_${randomBytes(4).toString('hex')}`
    const admin = process.env.TEST_ADMIN_URL ?? ''
    t.after(async () => void (await query(admin, `drop role ${name}`)))
    const { url } = await cloneDatabase(t)
    await query(url, `create role ${name} login password 'x'`)
    const connectionString = Object.assign(new URL(url), { username: name, password: 'x' }).href
    const pool = createPool({ connectionString, max: 1, log: { warn() {} } })
    t.after(() => pool.end())
    const state = await readServerState(pool)
    assert.equal(state.isStandby, false)
    assert.ok(parsePosition(state.position) > 0n)
  })

  test('readDb rejects writes and transactions, also without replicas', async (t) => {
    const { app } = await build(lastFirst(t))
    await assert.rejects(app.readDb.deleteFrom('users').execute(), /takes no writes/)
    await assert.rejects(
      app.readDb.transaction().execute((trx) => sql`select 1`.execute(trx)),
      /no transactions/,
    )
  })
})
