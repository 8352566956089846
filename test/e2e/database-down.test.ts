/** The database is lost and returns: requests that need it fail, no process exits, and all works afterwards. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import pg from 'pg'

import { query } from '../db/sql.ts'
import { cloneDatabase } from '../support/database.ts'
import { startTcpProxy } from '../support/processes/tcp-proxy.ts'
import { until } from '../support/processes/until.ts'
import { call, getUser, refresh, statusAndCode } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { autoconfirm, newAddress, signIn, signUp, signUpUser } from '../support/users.ts'

suite('unavailable database', () => {
  test('returns 503 for requests that need it and recovers', async (t) => {
    const { app, proxy } = await start(t)
    const session = await signUpUser(app)
    proxy.cut()

    const requests = [
      () => getUser(app, session),
      () => refresh(app, session.refresh_token),
      () => signIn(app, { email: session.email }),
      () => signUp(app, { email: newAddress() }),
      () => app.inject({ url: '/verify?type=signup&token=x' }),
    ]
    const [user, refreshed, signedIn, signedUp, opened] = await Promise.all(
      requests.map((request) => request()),
    )
    for (const response of [user, refreshed, signedIn, signedUp]) {
      assert.equal(response?.statusCode, 503, response?.body)
      assert.equal(response?.json().error_code, 'service_unavailable')
      assert.match(String(response?.headers['retry-after']), /^[1-9]/)
      assert.doesNotMatch(response?.body ?? '', /ECONN|127\.0\.0\.1|pool|terminated/)
    }
    assert.match(String(opened?.headers.location), /error=temporarily_unavailable/)
    assert.equal((await app.inject({ url: '/health' })).statusCode, 200)
    assert.equal((await app.inject({ url: '/settings' })).statusCode, 200)
    assert.equal((await app.inject({ url: '/.well-known/jwks.json' })).statusCode, 200)

    proxy.restore()
    await until(async () => (await getUser(app, session)).statusCode === 200)
    assert.equal((await refresh(app, session.refresh_token)).statusCode, 200)
    assert.equal((await signUp(app, { email: newAddress() })).statusCode, 200)
  })

  test('returns 503 for writes on a full disk, while reads succeed', async (t) => {
    const { app, database } = await start(t)
    const session = await signUpUser(app)
    const writes = () =>
      Promise.all([
        signUp(app, { email: newAddress() }),
        signIn(app, { email: session.email }),
        refresh(app, session.refresh_token),
      ])
    await query(
      database.url,
      `create function public.full() returns trigger language plpgsql as $$ begin
        raise exception 'could not extend file "base/5/16384": No space left on device'
          using errcode = 'disk_full'; end $$`,
      ...['users', 'sessions'].map(
        (table) => `create trigger full_disk before insert or update on auth.${table}
          for each row execute function public.full()`,
      ),
    )
    for (const response of await writes()) {
      assert.deepEqual(statusAndCode(response), [503, 'service_unavailable'], response.body)
      assert.match(String(response.headers['retry-after']), /^[1-9]/)
    }
    assert.equal((await getUser(app, session)).statusCode, 200)

    await query(database.url, 'drop function public.full cascade')
    for (const response of await writes()) assert.equal(response.statusCode, 200, response.body)
  })

  test('returns 503 for connection limits and cancelled transactions', async (t) => {
    const { app, database } = await start(t)
    const session = await signUpUser(app)
    const name = new URL(database.url).pathname.slice(1)
    // Of locks, statements, transactions, idle connections; a deadlock, a conflict, a database that is dropped.
    const codes = ['55P03', '57014', '25P04', '25P03', '57P05', '40P01', '40001', '57P04']
    for (const code of codes) {
      await query(
        database.url,
        `create or replace function public.undo() returns trigger language plpgsql as $$ begin
          raise exception 'undone' using errcode = '${code}'; end $$`,
        `create or replace trigger undone before update on auth.sessions
          for each row execute function public.undo()`,
      )
      await rejected(refresh(app, session.refresh_token), code)
    }
    await query(database.url, 'drop function public.undo cascade')

    const others = new URL(database.url)
    others.pathname = '/postgres'
    await query(
      others.href,
      `alter database ${name} allow_connections false`,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    )
    for (let attempt = 1; attempt <= 3; attempt++) {
      await rejected(refresh(app, session.refresh_token), `attempt ${attempt}`)
    }
    await query(others.href, `alter database ${name} allow_connections true`)
    await until(async () => (await refresh(app, session.refresh_token)).statusCode === 200)
  })

  test('moves to the new primary when the server becomes read-only', async (t) => {
    const { app, mail, database } = await start(t)
    const session = await signUpUser(app)
    const name = new URL(database.url).pathname.slice(1)
    // A connection made during a failover may reach the old primary, by then a replica.
    await query(
      database.url,
      `alter database ${name} set default_transaction_read_only = on`,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )
    await until(async () => (await getUser(app, session)).statusCode === 200)
    const rejected = await refresh(app, session.refresh_token)
    assert.deepEqual(statusAndCode(rejected), [503, 'service_unavailable'], rejected.body)
    assert.match(String(rejected.headers['retry-after']), /^[1-9]/)

    await query(
      database.url,
      'set default_transaction_read_only = off',
      `alter database ${name} reset default_transaction_read_only`,
    )

    const writes = async () => (await refresh(app, session.refresh_token)).statusCode === 200
    await until(writes, { seconds: 20, missing: 'it stays with the replica' })
    assert.equal((await call(app, '/recover', { email: session.email })).statusCode, 200)
    await until(() => mail.messages.length > 0, { seconds: 20, missing: 'no job is done' })
  })

  test('connects to the current server when the old one hangs', async (t) => {
    const { app, mail, proxy } = await start(t, { AUTH_API_MAX_REQUEST_DURATION: '3s' })
    const session = await signUpUser(app)
    const signUps = () =>
      Promise.all(Array.from({ length: 12 }, () => signUp(app, { email: newAddress() })))
    await signUps()

    proxy.lose()

    assert.ok((await signUps()).some(({ statusCode }) => statusCode > 500))
    const listAllUsers = async () => (await signUps()).every(({ statusCode }) => statusCode === 200)
    await until(listAllUsers, { missing: 'what is dead is used' })
    const pending = await call(app, '/recover', { email: session.email })
    assert.equal(pending.statusCode, 200, pending.body)
    await until(() => mail.messages.length > 0, { missing: 'no job is done' })
  })

  test('responds to each request when connections are terminated', async (t) => {
    const { app, database } = await start(t)
    const session = await signUpUser(app)
    const admin = new pg.Client({ connectionString: database.url })
    await admin.connect()
    let isOver = false
    const statuses: number[] = []
    const load = Array.from({ length: 4 }, async () => {
      while (!isOver) statuses.push((await getUser(app, session)).statusCode)
    })
    for (let i = 0; i < 5 || statuses.length < 20; i += 1) {
      await admin.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      await pause(50)
    }
    isOver = true
    await admin.end()
    await Promise.all(load)
    assert.ok(statuses.every((status) => status === 200 || status === 503))
    await until(async () => (await getUser(app, session)).statusCode === 200)
  })

  test('allows a refresh to be repeated when its response was lost', async (t) => {
    const { app, proxy } = await start(t)
    const session = await signUpUser(app)
    const racing = refresh(app, session.refresh_token)
    proxy.cut()
    const lost = await racing
    assert.ok(lost.statusCode === 200 || lost.statusCode === 503)
    proxy.restore()

    await until(async () => (await getUser(app, session)).statusCode === 200)
    const response = await refresh(app, session.refresh_token)
    assert.equal(response.statusCode, 200, response.body)
    assert.equal((await refresh(app, response.json().refresh_token)).statusCode, 200)
  })
})

async function rejected(respond: ReturnType<typeof refresh>, why: string): Promise<void> {
  const response = await respond
  assert.deepEqual(statusAndCode(response), [503, 'service_unavailable'], `${why} ${response.body}`)
  assert.match(String(response.headers['retry-after']), /^[1-9]/)
}

async function start(t: TestContext, env: Record<string, string> = {}) {
  const database = await cloneDatabase()
  const proxy = await startTcpProxy(database.url)
  const { app, mail } = await build(t, {
    env: { ...autoconfirm, DATABASE_URL: proxy.url, ...env },
  })
  t.after(async () => {
    await proxy.stop()
    await database.drop()
  })
  return { app, mail, proxy, database }
}
