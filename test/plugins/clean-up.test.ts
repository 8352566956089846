/** What is removed, what stays, in batches, and on two replicas at once. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'

import { configuredCleanUp, createCleanUp } from '../../plugins/clean-up.ts'
import { autoconfirm, newPerson, signedIn } from '../support/people.ts'
import { refresh } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { ago, day, minute, now, oldRows } from './clean-up-rows.ts'

suite('clean-up', () => {
  test('removes what ended long ago, and nothing that is of use', async (t) => {
    const { app } = await build(t, {
      env: {
        ...autoconfirm,
        AUTH_SESSIONS_TIMEBOX: '48h',
        AUTH_SESSIONS_INACTIVITY_TIMEOUT: '12h',
        AUTH_DB_CLEANUP_ANONYMOUS_USERS_RETENTION: '720h',
        AUTH_AUDIT_RETENTION: '100h',
      },
    })
    const { user } = await newPerson(app)
    await app.db.deleteFrom('audit_log_entries').execute()
    for (const [insert, keptFor] of Object.values(oldRows)) {
      await insert(app.db, user.id, ago(keptFor + minute))
      await insert(app.db, user.id, ago(keptFor - minute))
    }

    const removed = await configuredCleanUp(app).run(now)

    const { unused_sessions, idle_sessions, boxed_sessions, ...once } = Object.fromEntries(
      Object.keys(oldRows).map((kind) => [kind, 1]),
    )
    assert.deepEqual(removed, { ...once, expired_sessions: 3 })
    const again = await configuredCleanUp(app).run(now)
    assert.ok(Object.values(again).every((count) => count === 0))
  })

  test('of one session a person, those that another has taken the place of go after a day', async (t) => {
    const env = { ...autoconfirm, AUTH_SESSIONS_SINGLE_PER_USER: 'true' }
    const { app } = await build(t, { env })
    const { user, email, refresh_token } = await newPerson(app)
    const latest = await signedIn(app, email)
    const sessions = app.db.updateTable('sessions').where('user_id', '=', user.id)
    await sessions.set({ created_at: ago(day + minute) }).execute()
    await sessions
      .set({ refreshed_at: ago(day - minute) })
      .where('id', '=', sessionOf(latest))
      .execute()
    assert.equal((await refresh(app, refresh_token)).statusCode, 400)

    const { superseded_sessions } = await configuredCleanUp(app).run(now)

    assert.equal(superseded_sessions, 1)
    const left = await app.db.selectFrom('sessions').select('id').execute()
    assert.deepEqual(left, [{ id: sessionOf(latest) }])
  })

  test('without limits, sessions and anonymous people stay for ever; the audit trail where that is asked for', async (t) => {
    const { app } = await build(t, { env: { ...autoconfirm, AUTH_AUDIT_RETENTION: '0' } })
    const { user, refresh_token } = await newPerson(app)
    const old = ago(3650 * day)
    await app.db.updateTable('sessions').set({ created_at: old, refreshed_at: old }).execute()
    await app.db.updateTable('users').set({ is_anonymous: true, created_at: old }).execute()
    await oldRows.audit_entries[0](app.db, user.id, old)

    const removed = await configuredCleanUp(app).run(now)

    assert.ok(
      Object.values(removed).every((count) => count === 0),
      JSON.stringify(removed),
    )
    assert.equal((await refresh(app, refresh_token)).json().user.id, user.id)
  })

  test('two replicas at once remove many rows in small batches, each row once', async (t) => {
    const { app } = await build(t)
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
    const retention = { ended: 86_400, flow: 0, challenge: 0, factor: 0, limits: 0 }
    const none = {
      sessionTimebox: undefined,
      sessionInactivity: undefined,
      singlePerUser: undefined,
    }
    const more = { anonymousUsers: undefined, auditLog: undefined }
    const deps = { db: app.db, log: app.log, batchSize: 100 }
    const replica = () => createCleanUp({ ...deps, retention: { ...retention, ...none, ...more } })

    const runs = await Promise.all([replica().run(now), replica().run(now)])

    const total = runs.reduce((sum, removed) => sum + (removed.throttles ?? 0), 0)
    assert.equal(total, 1005)
    assert.deepEqual(await app.db.selectFrom('postern_throttles').select('key').execute(), [])
  })

  test('stops between batches when the server does', async (t) => {
    const { app } = await build(t)
    const removed = await configuredCleanUp(app).run(now, AbortSignal.abort())
    assert.deepEqual(removed, {})
  })
})

const sessionOf = ({ access_token }: { access_token: string }) =>
  String(decodeJwt(access_token).session_id)
