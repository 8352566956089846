/** AUTH_SESSIONS_*: when a session ends by itself. The clock is moved; times are seconds after the sign-in. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { updateUser } from '../../../db/user-rows.ts'
import { answer, challenge, everyFactor, guarded, prove } from '../../support/factors.ts'
import { autoconfirm, newPerson, signedIn } from '../../support/people.ts'
import { refresh } from '../../support/requests.ts'
import { sharedServers } from '../../support/shared-servers.ts'

const expired = 'Invalid Refresh Token: Session Expired'
const idle = 'Invalid Refresh Token: Session Expired (Inactivity)'
const replaced = 'Invalid Refresh Token: Session Expired (Revoked by Newer Login)'

interface Life {
  env: Record<string, string>
  /** When the session is refreshed, and the message of a refusal. */
  refreshes: [at: number, refusal?: string][]
}

const lives: Record<string, Life> = {
  'no limits': { env: {}, refreshes: [[1_000_000], [99_000_000]] },
  'a timebox, however often it is refreshed': {
    env: { AUTH_SESSIONS_TIMEBOX: '1h' },
    refreshes: [[1800], [3599], [3600, expired], [9999, expired]],
  },
  inactivity: {
    env: { AUTH_SESSIONS_INACTIVITY_TIMEOUT: '1h' },
    refreshes: [[3599], [7198], [10_797], [14_397, idle]],
  },
  'inactivity after the sign-in': {
    env: { AUTH_SESSIONS_INACTIVITY_TIMEOUT: '1h' },
    refreshes: [[3600, idle]],
  },
  'both: the timebox is told first': {
    env: { AUTH_SESSIONS_TIMEBOX: '2h', AUTH_SESSIONS_INACTIVITY_TIMEOUT: '1h' },
    refreshes: [[3000], [6000], [7200, expired], [20_000, expired]],
  },
}

suite('session policy', () => {
  const serverFor = sharedServers()

  for (const [name, { env, refreshes }] of Object.entries(lives)) {
    test(name, async (t) => {
      const { app } = await serverFor({ ...autoconfirm, ...env })
      const at = clock(t)
      let { refresh_token: token } = await newPerson(app)
      for (const [seconds, refusal] of refreshes) {
        at(seconds)
        const response = await refresh(app, token)
        if (refusal === undefined) {
          assert.equal(response.statusCode, 200, response.body)
          token = response.json().refresh_token
        } else {
          assert.deepEqual(errorOf(response), [400, 'session_expired', refusal])
        }
      }
    })
  }

  test('one per person: the session used last stays', async (t) => {
    const { app } = await serverFor({ ...autoconfirm, AUTH_SESSIONS_SINGLE_PER_USER: 'true' })
    const at = clock(t)
    const first = await newPerson(app)
    at(1)
    const second = await signedIn(app, first.email)
    at(2)
    assert.deepEqual(errorOf(await refresh(app, first.refresh_token)), [
      400,
      'session_expired',
      replaced,
    ])
    assert.equal((await refresh(app, second.refresh_token)).statusCode, 200)
    const other = await newPerson(app)
    assert.equal((await refresh(app, other.refresh_token)).statusCode, 200)
  })

  test('one per person: a session that was replaced proves no second factor any more', async (t) => {
    const { app } = await serverFor({ ...everyFactor, AUTH_SESSIONS_SINGLE_PER_USER: 'true' })
    const at = clock(t)
    const { email, factor } = await guarded(app)
    at(60)
    const first = await signedIn(app, email)
    at(120)
    const second = await signedIn(app, email)
    at(180)
    const { id: challenge_id } = await challenge(app, first, factor.id)
    const late = await answer(app, first, factor.id, { challenge_id, code: factor.code() })
    const over = [403, 'session_expired', 'Session is no longer valid. Sign in again.']
    assert.deepEqual(errorOf(late), over)
    // Nothing was spent by it: the code is still good where it counts.
    const raised = await prove(app, second, factor)
    assert.equal((await refresh(app, raised.refresh_token)).statusCode, 200)
  })

  test('one per person: a later session that has itself ended does not count', async (t) => {
    const env = { AUTH_SESSIONS_SINGLE_PER_USER: 'true' }
    const { app } = await serverFor({ ...autoconfirm, ...env })
    const at = clock(t)
    const first = await newPerson(app)
    at(1)
    await signedIn(app, first.email)
    await app.db
      .updateTable('sessions')
      .set({ not_after: new Date() })
      .where('created_at', '=', new Date())
      .execute()
    at(2)
    assert.equal((await refresh(app, first.refresh_token)).statusCode, 200)
  })

  test('one per person and kind: phones and browsers count apart', async (t) => {
    const env = { AUTH_SESSIONS_SINGLE_PER_USER: 'true', AUTH_SESSIONS_TAGS: 'web,phone' }
    const { app } = await serverFor({ ...autoconfirm, ...env })
    const at = clock(t)
    const { email, ...unnamed } = await newPerson(app)
    at(1)
    const phone = await signedIn(app, email, { 'x-session-tag': 'phone' })
    at(2)
    const web = await signedIn(app, email, { 'x-session-tag': 'no such kind' })
    at(3)
    const answers = await Promise.all(
      [unnamed, phone, web].map((s) => refresh(app, s.refresh_token)),
    )
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [400, 200, 200],
    )
    const tags = await app.db.selectFrom('sessions').select('tag').orderBy('created_at').execute()
    assert.deepEqual(
      tags.map(({ tag }) => tag),
      ['web', 'phone', 'web'],
    )
  })

  test('a ban refuses at once, until it is over', async (t) => {
    const { app } = await serverFor(autoconfirm)
    const at = clock(t)
    const { user, refresh_token } = await newPerson(app)
    const banned_until = new Date(Date.now() + 60_000)
    await updateUser(app.db, user.id, { banned_until }, new Date())
    const refused = await refresh(app, refresh_token)
    assert.deepEqual(errorOf(refused), [400, 'user_banned', 'Invalid Refresh Token: User Banned'])
    at(60)
    assert.equal((await refresh(app, refresh_token)).statusCode, 200)
  })

  test('somebody who is deleted and kept has no session, whoever left one', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user, refresh_token } = await newPerson(app)
    await updateUser(app.db, user.id, { deleted_at: new Date() }, new Date())
    const [status, code] = errorOf(await refresh(app, refresh_token))
    assert.deepEqual([status, code], [400, 'refresh_token_not_found'])
  })

  test('access tokens carry the session and their own end', async (t) => {
    const { app } = await serverFor({ ...autoconfirm, AUTH_JWT_EXP: '120' })
    const at = clock(t)
    const session = await newPerson(app)
    at(119)
    const headers = { authorization: `Bearer ${session.access_token}` }
    assert.equal((await app.inject({ url: '/user', headers })).statusCode, 200)
    at(126)
    assert.equal((await app.inject({ url: '/user', headers })).json().error_code, 'bad_jwt')
    assert.equal(session.expires_in, 120)
  })
})

/** Stops the clock at a full second and returns how to move it. */
function clock(t: TestContext): (seconds: number) => void {
  const started = Math.ceil(Date.now() / 1000) * 1000
  t.mock.timers.enable({ apis: ['Date'], now: started })
  return (seconds) => t.mock.timers.setTime(started + seconds * 1000)
}

function errorOf(response: Awaited<ReturnType<typeof refresh>>) {
  const { error_code, msg } = response.json()
  return [response.statusCode, error_code, msg]
}
