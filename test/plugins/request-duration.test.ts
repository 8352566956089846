/** What becomes of the work of a request that takes longer than AUTH_API_MAX_REQUEST_DURATION. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { suite, type TestContext, test } from 'node:test'

import { decodeJwt } from 'jose'
import pg from 'pg'

import type { Session } from '../../schemas/session.ts'
import { cloneDatabase } from '../support/database.ts'
import { describe, externalServer, proven } from '../support/external.ts'
import { startHookReceiver } from '../support/hook-receiver.ts'
import { autoconfirm, newAddress, newPerson, signUp } from '../support/people.ts'
import { bearer, call, getUser, outcomeOf, refresh } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { untilRows } from '../support/until.ts'

const timedOut = [504, 'request_timeout']
const short = { AUTH_API_MAX_REQUEST_DURATION: '1500ms', ...autoconfirm }

suite('a request that takes too long', () => {
  test('a transaction that waits for a lock is stopped, and nothing of it is written', async (t) => {
    const { app, holder } = await held(t)
    await holder.query('begin; lock table auth.audit_log_entries in access exclusive mode')
    const email = newAddress()

    const answer = await signUp(app, { email })

    assert.deepEqual(outcomeOf(answer), timedOut)
    assert.match(answer.json().msg, /please retry/)
    await nothingRuns(holder)
    await holder.query('rollback')
    assert.equal(await countPeople(app), 0)
    assert.equal(await countMails(app), 0)
  })

  test('so is a single statement, and its connection can be used again', async (t) => {
    const { app, calm, holder } = await held(t, { AUTH_DB_MAX_POOL_SIZE: '1' })
    const { refresh_token } = await newPerson(calm)
    await holder.query('begin; lock table auth.sessions in access exclusive mode')

    const answer = await refresh(app, refresh_token)

    assert.deepEqual(outcomeOf(answer), timedOut)
    assert.match(answer.json().msg, /may have taken effect/)
    await nothingRuns(holder)
    await holder.query('rollback')
    const { rows } = await app.pool.query('select refresh_token_counter from auth.sessions')
    assert.equal(rows.length, 1)
    assert.equal(app.pool.totalCount, 1)
    assert.equal((await refresh(calm, refresh_token)).statusCode, 200)
  })

  test('so is what somebody asked for who has hung up', async (t) => {
    const { app, holder } = await held(t)
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    await holder.query('begin; lock table auth.users in access exclusive mode')
    const leaving = new AbortController()
    const body = JSON.stringify({ email: newAddress(), password: 'long enough for this' })
    const left = fetch(`${url}/signup`, { method: 'POST', body, signal: leaving.signal })
    await untilRows(async () => (await waitingStatements(holder)).rows)

    leaving.abort()
    await assert.rejects(left)

    await nothingRuns(holder)
    await holder.query('rollback')
    assert.equal(await countPeople(app), 0)
  })

  test('so is what would go out with the commit, since nobody waits for it', async (t) => {
    const { app, calm, holder } = await held(t, { AUTH_DB_MAX_POOL_SIZE: '1' })
    const [first, second] = [await newPerson(calm), await newPerson(calm)]
    // From here on, the connection knows the statements.
    assert.equal((await logout(app, first)).statusCode, 204)
    await holder.query('begin; lock table auth.audit_log_entries in access exclusive mode')

    assert.deepEqual(outcomeOf(await logout(app, second)), timedOut)

    await nothingRuns(holder)
    await holder.query('rollback')
    assert.equal((await getUser(calm, second)).statusCode, 200)
  })

  test('a statement for many requests is stopped when the last of them is over', async (t) => {
    const { app, calm, holder } = await held(t)
    const session = await newPerson(calm)
    await holder.query('begin; lock table auth.sessions in access exclusive mode')

    const answers = await Promise.all([1, 2, 3].map(() => getUser(app, session)))

    assert.deepEqual(answers.map(outcomeOf), [timedOut, timedOut, timedOut])
    await nothingRuns(holder)
  })

  test('a job is not bound by it', async (t) => {
    const { app, calm, holder, mail } = await held(t)
    const session = await newPerson(calm)
    await holder.query('begin; lock table auth.users in access exclusive mode')
    const asked = await call(app, '/recover', { email: session.email })
    assert.equal(asked.statusCode, 200, asked.body)
    await untilRows(async () => (await waitingStatements(holder)).rows)

    assert.deepEqual(outcomeOf(await getUser(app, session)), timedOut)

    assert.equal(mail.messages.length, 0)
    await holder.query('rollback')
    await untilRows(async () => mail.messages)
  })

  test('work that goes on without the database ends before its next statement', async (t) => {
    const receiver = await startHookReceiver(t)
    const lines: string[] = []
    const env = { ...receiver.env('BEFORE_USER_CREATED'), AUTH_API_MAX_REQUEST_DURATION: '3s' }
    const server = await externalServer(t, { env, lines })
    // What the first of them loads may take as long as all the rest.
    const calm = await externalServer(t)
    await calm.signInWith('github', proven('bob@ex.test', '41'))
    const released = Promise.withResolvers<void>()
    receiver.reply({ act: (response) => void released.promise.then(() => agree(response)) })
    describe(server.fakes, 'github', proven('ann@ex.test', '42'))
    const params = await server.goTo('github')

    const answer = await server.app.inject(`/callback?${new URLSearchParams(params)}`)

    assert.deepEqual(outcomeOf(answer), timedOut)
    released.resolve()
    await untilRows(async () => lines.filter((line) => line.includes('its work ends here')))
    assert.equal(await server.countUsers(), 0)
    for (const table of ['sessions', 'flow_state'] as const) {
      const rows = await server.app.db.selectFrom(table).select('id').execute()
      assert.deepEqual(rows, [], table)
    }
    assert.ok(!lines.join('').includes(params.state ?? '?'), 'the address is not in the log')
    assert.equal(await countMails(server.app), 0)
  })

  test('a commit is never stopped, and the answer says that it may have happened', async (t) => {
    const { app, holder } = await held(t, { AUTH_API_MAX_REQUEST_DURATION: '3s' })
    await holder.query(`
      create function auth.wait_at_commit() returns trigger language plpgsql as
        'begin perform pg_advisory_xact_lock_shared(7); return null; end';
      create constraint trigger wait_at_commit after insert on auth.users
        deferrable initially deferred for each row execute function auth.wait_at_commit();
      select pg_advisory_lock(7)`)
    const email = newAddress()

    const answer = await signUp(app, { email })

    assert.deepEqual(outcomeOf(answer), timedOut)
    assert.match(answer.json().msg, /may have taken effect/)
    assert.equal(await countPeople(app), 0)
    await holder.query('select pg_advisory_unlock(7)')
    await untilRows(() =>
      app.db.selectFrom('users').select('id').where('email', '=', email).execute(),
    )
  })
})

/** `app` has the short limit; `calm` none to speak of, on the same database; `holder` can hold locks. */
async function held(t: TestContext, env: Record<string, string> = {}) {
  const database = await cloneDatabase()
  const holder = new pg.Client({ connectionString: database.url })
  await holder.connect()
  t.after(() => holder.end())
  const built = await build(t, { database, env: { ...short, ...env } })
  const { app: calm } = await build(t, {
    database: { ...database, drop: async () => {} },
    env: { ...built.mail.env, ...autoconfirm },
  })
  return { ...built, calm, holder }
}

function logout(app: App, session: Session) {
  const { session_id } = decodeJwt(session.access_token)
  const url = `/sessions/${session_id}`
  return app.inject({ method: 'DELETE', url, headers: bearer(session) })
}

/** A hook that has no objection. */
function agree(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
}

/** Statements that wait for a lock. */
async function waitingStatements(holder: pg.Client) {
  await holder.query('select pg_stat_clear_snapshot()')
  return holder.query(
    `select query from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  )
}

/** Nothing that a request began is under way, or waits in a transaction that is open. */
async function nothingRuns(holder: pg.Client): Promise<void> {
  await untilRows(async () => {
    await holder.query('select pg_stat_clear_snapshot()')
    const { rows } = await holder.query(
      `select from pg_stat_activity where datname = current_database()
        and application_name = 'postern' and pid <> pg_backend_pid() and state <> 'idle'`,
    )
    return rows.length === 0 ? ['none'] : []
  })
}

async function countPeople(app: App): Promise<number> {
  return (await app.db.selectFrom('users').select('id').execute()).length
}

async function countMails(app: App): Promise<number> {
  return (await app.db.selectFrom('postern_mail_messages').select('id').execute()).length
}
