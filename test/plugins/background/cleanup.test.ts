/** Cleanup: removed and kept rows, batches, and concurrent replicas. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { cleanupFromConfig, createCleanup } from '../../../plugins/background/cleanup/index.ts'
import { testConfig } from '../../support/config.ts'
import { legacySession } from '../../support/legacy-session.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { until } from '../../support/processes/until.ts'
import { refresh } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { watchPool } from '../../support/statements.ts'
import { autoconfirm, signedIn, signUpUser } from '../../support/users.ts'
import { ago, day, minute, now, oldRows } from './cleanup-rows.ts'

suite('cleanup', () => {
  const serverFor = sharedServers()

  /** The server of the tests of limits, without rows of the others. */
  async function emptied(): Promise<App> {
    const { app } = await serverFor()
    await app.db.deleteFrom('postern_throttles').execute()
    await app.db.deleteFrom('postern_send_intervals').execute()
    return app
  }

  test('removes expired rows and keeps all others', async (t) => {
    const { app } = await build(t, {
      env: {
        ...autoconfirm,
        AUTH_SESSIONS_TIMEBOX: '48h',
        AUTH_SESSIONS_INACTIVITY_TIMEOUT: '12h',
        AUTH_DB_CLEANUP_ANONYMOUS_USERS_RETENTION: '720h',
        AUTH_AUDIT_RETENTION: '100h',
      },
    })
    const { user } = await signUpUser(app)
    await app.db.deleteFrom('audit_log_entries').execute()
    // Only anonymous users are removed by age.
    await app.db
      .updateTable('users')
      .set({ created_at: ago(3650 * day) })
      .execute()
    for (const [insert, retention] of Object.values(oldRows)) {
      await insert(app.db, user.id, ago(retention + minute))
      await insert(app.db, user.id, ago(retention - minute))
    }

    const removed = await cleanupFromConfig(app).run(now)

    const { unused_sessions, idle_sessions, boxed_sessions, ...once } = Object.fromEntries(
      Object.keys(oldRows).map((kind) => [kind, 1]),
    )
    assert.deepEqual(removed, { ...once, expired_sessions: 3 })
    const again = await cleanupFromConfig(app).run(now)
    assert.ok(Object.values(again).every((count) => count === 0))
  })

  test('keeps anonymous users referenced by other tables', async (t) => {
    const env = { AUTH_DB_CLEANUP_ANONYMOUS_USERS_RETENTION: '720h' }
    const { app } = await build(t, { env })
    const [insert, retention] = oldRows.anonymous_users
    for (let i = 0; i < 3; i++) await insert(app.db, '', ago(retention + minute))
    await app.pool.query(
      `create table public.carts (user_id uuid references auth.users (id));
       insert into public.carts select id from auth.users limit 1`,
    )

    const removed = await cleanupFromConfig(app).run(now)

    assert.equal(removed.anonymous_users, 2)
    const { rows } = await app.pool.query('select id from auth.users')
    assert.equal(rows.length, 1)
  })

  test('keeps expired rows for AUTH_DB_CLEANUP_RETENTION', async (t) => {
    const { app } = await build(t, { env: { ...autoconfirm, AUTH_DB_CLEANUP_RETENTION: '1h' } })
    const { user } = await signUpUser(app)
    const ends = [
      'ended_sessions',
      'refresh_tokens',
      'one_time_tokens',
      'passkey_challenges',
    ] as const
    for (const kind of ends) {
      const [insert, retention] = oldRows[kind]
      assert.equal(retention, day)
      await insert(app.db, user.id, ago(61 * minute))
      await insert(app.db, user.id, ago(59 * minute))
    }

    const removed = await cleanupFromConfig(app).run(now)

    for (const kind of ends) assert.equal(removed[kind], 1, kind)
  })

  test('keeps a GoTrue token until its link has expired', async (t) => {
    const env = { AUTH_MAILER_OTP_EXP: '72h', AUTH_DB_CLEANUP_RETENTION: '1h' }
    const { app } = await build(t, { env: { ...autoconfirm, ...env } })
    const stored = await gotrueToken(app, 71)
    const gone = await gotrueToken(app, 74)
    // A token with failed attempts has our own row without an expiry.
    const attempted = await gotrueToken(app, 71)
    await app.db
      .insertInto('postern_one_time_tokens')
      .values({ token_id: attempted, ...attempt })
      .execute()

    await cleanupFromConfig(app).run(now)

    const left = await app.db.selectFrom('one_time_tokens').select('id').execute()
    const ids = left.map(({ id }) => id)
    assert.deepEqual(ids.toSorted(), [stored, attempted].toSorted(), gone)
  })

  for (const [setting, left] of [
    ['true', 0],
    ['false', 1],
  ] as const) {
    test(`AUTH_DB_CLEANUP_ENABLED=${setting}: the job ${left === 0 ? 'removes' : 'keeps'} an expired row`, async (t) => {
      const { app } = await build(t, { env: { AUTH_DB_CLEANUP_ENABLED: setting } })
      await oldRows.throttles[0](app.db, '', ago(30 * day))

      await app.jobQueue.enqueue(app.db, 'clean_up', {})

      await until(async () => {
        const { rows } = await app.pool.query(
          "select from auth_jobs.jobs where task_identifier = 'clean_up'",
        )
        return rows.length === 0
      })
      const rows = await app.db.selectFrom('postern_throttles').select('key').execute()
      assert.equal(rows.length, left)
    })
  }

  test('AUTH_DB_CLEANUP_BATCH_SIZE limits the rows of a statement', async () => {
    const app = await emptied()
    for (let row = 0; row < 5; row++) await oldRows.throttles[0](app.db, '', ago(30 * day))

    const trips = await watchPool(app.pool, async () => {
      const { throttles } = await cleanupWith(app, { AUTH_DB_CLEANUP_BATCH_SIZE: '2' }).run(now)
      assert.equal(throttles, 5)
    })

    const removals = trips.flat().filter((text) => /^delete from .*postern_throttles/.test(text))
    assert.equal(removals.length, 3)
  })

  test('skips locked rows', async () => {
    const app = await emptied()
    for (let row = 0; row < 2; row++) await oldRows.throttles[0](app.db, '', ago(30 * day))

    await app.db.transaction().execute(async (trx) => {
      await trx.selectFrom('postern_throttles').select('key').limit(1).forUpdate().execute()
      assert.equal((await cleanupFromConfig(app).run(now)).throttles, 1)
    })
    assert.equal((await cleanupFromConfig(app).run(now)).throttles, 1)
  })

  test('reads each session once, in ranges of one page', async (t) => {
    const env = { AUTH_DB_CLEANUP_BATCH_SIZE: '1', AUTH_SESSIONS_TIMEBOX: '48h' }
    const { app } = await build(t, { env: { ...autoconfirm, ...env } })
    const { user } = await signUpUser(app)
    await app.db
      .updateTable('sessions')
      .set({ created_at: ago(4 * day) })
      .execute()
    await oldRows.boxed_sessions[0](app.db, user.id, ago(4 * day))

    assert.equal((await cleanupFromConfig(app).run(now)).expired_sessions, 2)
  })

  for (const setting of [
    'AUTH_SMTP_MAX_FREQUENCY',
    'AUTH_SMS_MAX_FREQUENCY',
    'AUTH_MFA_PHONE_MAX_FREQUENCY',
  ] as const) {
    test(`${setting}: keeps the last message until the interval ends`, async () => {
      const app = await emptied()
      const env = { [setting]: '72h', AUTH_DB_CLEANUP_RETENTION: '1h' }
      const [insert] = oldRows.send_intervals
      await insert(app.db, '', ago(3 * day + 59 * minute))
      await insert(app.db, '', ago(3 * day + 61 * minute))

      assert.equal((await cleanupWith(app, env).run(now)).send_intervals, 1)
    })
  }

  test('keeps a GoTrue session whose refresh token shows recent use', async (t) => {
    const { app } = await build(t, {
      env: { ...autoconfirm, AUTH_SESSIONS_INACTIVITY_TIMEOUT: '24h' },
    })
    const { user } = await signUpUser(app)
    const [used, unused] = [
      await legacySession(app, user.id, ago(30 * day)),
      await legacySession(app, user.id, ago(30 * day)),
    ]
    const token = await used.add({ updatedAt: ago(minute) })
    await unused.add()
    const { expired_sessions } = await cleanupFromConfig(app).run(now)
    assert.equal(expired_sessions, 1)
    assert.equal((await refresh(app, token)).statusCode, 200)
  })

  test('single session: removes superseded sessions after a day', async (t) => {
    const env = { ...autoconfirm, AUTH_SESSIONS_SINGLE_PER_USER: 'true' }
    const { app } = await build(t, { env })
    const { user, email, refresh_token } = await signUpUser(app)
    const latest = await signedIn(app, email)
    const sessions = app.db.updateTable('sessions').where('user_id', '=', user.id)
    await sessions.set({ created_at: ago(day + minute) }).execute()
    await sessions
      .set({ refreshed_at: ago(day - minute) })
      .where('id', '=', getSessionId(latest))
      .execute()
    assert.equal((await refresh(app, refresh_token)).statusCode, 400)

    const { superseded_sessions } = await cleanupFromConfig(app).run(now)

    assert.equal(superseded_sessions, 1)
    const left = await app.db.selectFrom('sessions').select('id').execute()
    assert.deepEqual(left, [{ id: getSessionId(latest) }])
  })

  test('keeps sessions and anonymous users without limits, and the audit log unless configured', async (t) => {
    const { app } = await build(t, { env: { ...autoconfirm, AUTH_AUDIT_RETENTION: '0' } })
    const { user, refresh_token } = await signUpUser(app)
    const old = ago(3650 * day)
    await app.db.updateTable('sessions').set({ created_at: old, refreshed_at: old }).execute()
    await app.db.updateTable('users').set({ is_anonymous: true, created_at: old }).execute()
    await oldRows.audit_entries[0](app.db, user.id, old)

    const removed = await cleanupFromConfig(app).run(now)

    assert.ok(
      Object.values(removed).every((count) => count === 0),
      JSON.stringify(removed),
    )
    assert.equal((await refresh(app, refresh_token)).json().user.id, user.id)
  })

  test('removes each row once when two replicas run', async () => {
    const app = await emptied()
    await app.db
      .insertInto('postern_throttles')
      .values(
        Array.from({ length: 1005 }, (_, i) => ({
          key: `key ${i}`,
          failures: 1,
          blocked_until: null,
          updated_at: ago(30 * day),
        })),
      )
      .execute()
    const times = { flow: 0, challenge: 0, factor: 0, limits: 0, quotas: 0, throttles: 0 }
    const retention = { ended: 86_400, ...times }
    const none = {
      sessionTimebox: undefined,
      sessionInactivity: undefined,
      singlePerUser: undefined,
    }
    const more = { anonymousUsers: undefined, auditLog: undefined }
    const deps = { db: app.db, log: app.log, batchSize: 100 }
    const replica = () => createCleanup({ ...deps, retention: { ...retention, ...none, ...more } })

    const runs = await Promise.all([replica().run(now), replica().run(now)])

    const total = runs.reduce((sum, removed) => sum + (removed.throttles ?? 0), 0)
    assert.equal(total, 1005)
    assert.deepEqual(await app.db.selectFrom('postern_throttles').select('key').execute(), [])
  })

  test('stops between batches at shutdown', async () => {
    const app = await emptied()
    await oldRows.throttles[0](app.db, '', ago(30 * day))
    const removed = await cleanupFromConfig(app).run(now, AbortSignal.abort())
    assert.deepEqual(removed, {})
  })

  test('stops within a large table at shutdown', async () => {
    const app = await emptied()
    const old = Array.from({ length: 200 }, () => oldRows.throttles[0](app.db, '', ago(30 * day)))
    await Promise.all(old)
    const stopping = new AbortController()
    const single = cleanupWith(app, { AUTH_DB_CLEANUP_BATCH_SIZE: '1' })
    const running = single.run(now, stopping.signal)
    await until(async () => {
      const { rows } = await app.pool.query('select from auth.postern_throttles')
      return rows.length < old.length
    })
    stopping.abort()
    const { throttles = 0 } = await running
    assert.ok(throttles > 0 && throttles < old.length, String(throttles))
  })
})

/** As a server with these settings cleans up. */
const cleanupWith = ({ db, log }: App, env: Record<string, string>) =>
  cleanupFromConfig({ config: testConfig(env), db, log })

const attempt = { expires_at: null, failed_attempts: 1 }

/** Sent so many hours ago, to a user of its own. */
async function gotrueToken({ db }: App, hours: number): Promise<string> {
  const sentAt = ago(hours * 60 * minute)
  const [id, user_id] = [crypto.randomUUID(), crypto.randomUUID()]
  await db.insertInto('users').values({ id: user_id, recovery_sent_at: sentAt }).execute()
  const row = {
    id,
    user_id,
    token_type: 'recovery_token' as const,
    token_hash: id,
    relates_to: 'a@b',
  }
  await db
    .insertInto('one_time_tokens')
    .values({ ...row, created_at: sentAt, updated_at: sentAt })
    .execute()
  return id
}

const getSessionId = ({ access_token }: { access_token: string }) =>
  String(decodeJwt(access_token).session_id)
