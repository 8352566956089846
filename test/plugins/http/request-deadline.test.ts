/** The work of requests that exceed AUTH_API_MAX_REQUEST_DURATION. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { suite, type TestContext, test } from 'node:test'

import { decodeJwt } from 'jose'
import pg from 'pg'

import type { Session } from '../../../schemas/session.ts'
import { cloneDatabase, withoutDrop } from '../../support/database.ts'
import { describe, externalServer, verifiedProfile } from '../../support/external.ts'
import { untilRows } from '../../support/processes/until.ts'
import { bearer, call, getUser, refresh, statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { autoconfirm, newAddress, signUp, signUpUser } from '../../support/users.ts'
import { startHookReceiver } from '../../support/webhooks/hook-receiver.ts'

const timedOut = [504, 'request_timeout']
const short = { AUTH_API_MAX_REQUEST_DURATION: '1500ms', ...autoconfirm }
/** For a request that must succeed before the one that times out. */
const timeForFirst = { AUTH_API_MAX_REQUEST_DURATION: '5s' }
/** The work ends at the deadline only, which must not pass before the client disconnects. */
const timeForDisconnect = { AUTH_API_MAX_REQUEST_DURATION: '10s' }

suite('request deadline', () => {
  test('cancels a transaction that waits for a lock and writes nothing', async (t) => {
    const { app, locker } = await lock(t)
    await locker.query('begin; lock table auth.audit_log_entries in access exclusive mode')
    const email = newAddress()

    const response = await signUp(app, { email })

    assert.deepEqual(statusAndCode(response), timedOut)
    assert.match(response.json().msg, /please retry/)
    await nothingRuns(locker)
    await locker.query('rollback')
    assert.equal(await countUsers(app), 0)
    assert.equal(await countEmails(app), 0)
  })

  test('cancels a single statement and reuses its connection', async (t) => {
    const { app, unlimited, locker } = await lock(t, { AUTH_DB_MAX_POOL_SIZE: '1' })
    const { refresh_token } = await signUpUser(unlimited)
    await locker.query('begin; lock table auth.sessions in access exclusive mode')

    const response = await refresh(app, refresh_token)

    assert.deepEqual(statusAndCode(response), timedOut)
    assert.match(response.json().msg, /may have taken effect/)
    await nothingRuns(locker)
    await locker.query('rollback')
    const { rows } = await app.pool.query('select refresh_token_counter from auth.sessions')
    assert.equal(rows.length, 1)
    assert.equal(app.pool.totalCount, 1)
    assert.equal((await refresh(unlimited, refresh_token)).statusCode, 200)
  })

  test('cancels the work of a disconnected client', async (t) => {
    const { app, locker } = await lock(t, timeForDisconnect)
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    await locker.query('begin; lock table auth.users in access exclusive mode')
    const leaving = new AbortController()
    const body = JSON.stringify({ email: newAddress(), password: 'long enough for this' })
    const left = fetch(`${url}/signup`, { method: 'POST', body, signal: leaving.signal })
    await untilRows(async () => (await waitingStatements(locker)).rows)

    leaving.abort()
    await assert.rejects(left)

    await nothingRuns(locker)
    await locker.query('rollback')
    assert.equal(await countUsers(app), 0)
  })

  test('cancels statements pipelined with a commit', async (t) => {
    const env = { AUTH_DB_MAX_POOL_SIZE: '1', ...timeForFirst }
    const { app, unlimited, locker } = await lock(t, env)
    const [first, second] = [await signUpUser(unlimited), await signUpUser(unlimited)]
    // From here on the connection has prepared the statements.
    assert.equal((await logout(app, first)).statusCode, 204)
    await locker.query('begin; lock table auth.audit_log_entries in access exclusive mode')

    assert.deepEqual(statusAndCode(await logout(app, second)), timedOut)

    await nothingRuns(locker)
    await locker.query('rollback')
    assert.equal((await getUser(unlimited, second)).statusCode, 200)
  })

  test('cancels a batched statement when its last request has ended', async (t) => {
    const { app, unlimited, locker } = await lock(t)
    const session = await signUpUser(unlimited)
    await locker.query('begin; lock table auth.sessions in access exclusive mode')

    const responses = await Promise.all([1, 2, 3].map(() => getUser(app, session)))

    assert.deepEqual(responses.map(statusAndCode), [timedOut, timedOut, timedOut])
    await nothingRuns(locker)
  })

  test('does not apply to jobs', async (t) => {
    const { app, unlimited, locker, mail } = await lock(t, timeForFirst)
    const session = await signUpUser(unlimited)
    await locker.query('begin; lock table auth.users in access exclusive mode')
    const pending = await call(app, '/recover', { email: session.email })
    assert.equal(pending.statusCode, 200, pending.body)
    await untilRows(async () => (await waitingStatements(locker)).rows)

    assert.deepEqual(statusAndCode(await getUser(app, session)), timedOut)

    assert.equal(mail.messages.length, 0)
    await locker.query('rollback')
    await untilRows(async () => mail.messages)
  })

  test('stops work outside the database before its next statement', async (t) => {
    const receiver = await startHookReceiver(t)
    const lines: string[] = []
    const env = { ...receiver.env('BEFORE_USER_CREATED'), AUTH_API_MAX_REQUEST_DURATION: '3s' }
    const server = await externalServer(t, { env, lines })
    // The first request may take as long as all others, to load modules.
    const unlimited = await externalServer(t)
    await unlimited.signInWith('github', verifiedProfile('bob@ex.test', '41'))
    const released = Promise.withResolvers<void>()
    receiver.reply({ act: (response) => void released.promise.then(() => agree(response)) })
    describe(server.fakes, 'github', verifiedProfile('ann@ex.test', '42'))
    const params = await server.startSignIn('github')

    const reply = await server.app.inject(`/callback?${new URLSearchParams(params)}`)

    assert.deepEqual(statusAndCode(reply), timedOut)
    released.resolve()
    await untilRows(async () => lines.filter((line) => line.includes('was aborted')))
    assert.equal(await server.countUsers(), 0)
    for (const table of ['sessions', 'flow_state'] as const) {
      const rows = await server.app.db.selectFrom(table).select('id').execute()
      assert.deepEqual(rows, [], table)
    }
    assert.ok(!lines.join('').includes(params.state ?? '?'), 'the address is not in the log')
    assert.equal(await countEmails(server.app), 0)
  })

  test('never cancels a commit, and reports that it may have taken effect', async (t) => {
    const { app, locker } = await lock(t, { AUTH_API_MAX_REQUEST_DURATION: '3s' })
    await locker.query(`
      create function auth.wait_at_commit() returns trigger language plpgsql as
        'begin perform pg_advisory_xact_lock_shared(7); return null; end';
      create constraint trigger wait_at_commit after insert on auth.users
        deferrable initially deferred for each row execute function auth.wait_at_commit();
      select pg_advisory_lock(7)`)
    const email = newAddress()

    const response = await signUp(app, { email })

    assert.deepEqual(statusAndCode(response), timedOut)
    assert.match(response.json().msg, /may have taken effect/)
    assert.equal(await countUsers(app), 0)
    await locker.query('select pg_advisory_unlock(7)')
    await untilRows(() =>
      app.db.selectFrom('users').select('id').where('email', '=', email).execute(),
    )
  })
})

/** `app` has the short deadline, `unlimited` none on the same database; `holder` holds locks. */
async function lock(t: TestContext, env: Record<string, string> = {}) {
  const database = await cloneDatabase()
  const locker = new pg.Client({ connectionString: database.url })
  await locker.connect()
  t.after(() => locker.end())
  // The hourly cleanup would wait for the lock too.
  const common = { AUTH_DB_CLEANUP_ENABLED: 'false' }
  const built = await build(t, { database, env: { ...common, ...short, ...env } })
  const { app: unlimited } = await build(t, {
    database: withoutDrop(database),
    env: { ...common, ...built.mail.env, ...autoconfirm },
  })
  return { ...built, unlimited, locker }
}

function logout(app: App, session: Session) {
  const { session_id } = decodeJwt(session.access_token)
  const url = `/sessions/${session_id}`
  return app.inject({ method: 'DELETE', url, headers: bearer(session) })
}

/** A hook that accepts. */
function agree(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
}

/** Statements that wait for a lock. */
async function waitingStatements(locker: pg.Client) {
  await locker.query('select pg_stat_clear_snapshot()')
  return locker.query(
    `select query from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  )
}

/** No statement of a request runs, and no transaction is open. */
async function nothingRuns(locker: pg.Client): Promise<void> {
  await untilRows(async () => {
    await locker.query('select pg_stat_clear_snapshot()')
    const { rows } = await locker.query(
      `select from pg_stat_activity where datname = current_database()
        and application_name = 'postern' and pid <> pg_backend_pid() and state <> 'idle'`,
    )
    return rows.length === 0 ? ['none'] : []
  })
}

async function countUsers(app: App): Promise<number> {
  return (await app.db.selectFrom('users').select('id').execute()).length
}

async function countEmails(app: App): Promise<number> {
  return (await app.db.selectFrom('postern_mail_messages').select('id').execute()).length
}
