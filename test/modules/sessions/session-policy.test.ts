/** AUTH_SESSIONS_*: when a session expires. The clock is moved; times are seconds after the sign-in. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { decodeJwt } from 'jose'

import { updateUser } from '../../../db/users/update-user.ts'
import {
  challenge,
  everyFactor,
  stepUp,
  userWithTotp,
  verifyChallenge,
} from '../../support/factors/factors.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { refresh } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, signedIn, signUpUser } from '../../support/users.ts'

const expired = 'Invalid Refresh Token: Session Expired'
const inactive = 'Invalid Refresh Token: Session Expired (Inactivity)'
const replaced = 'Invalid Refresh Token: Session Expired (Revoked by Newer Login)'

interface PolicyCase {
  env: Record<string, string>
  /** Time of each refresh, and the message of a rejection. */
  refreshes: [at: number, rejection?: string][]
}

const cases: Record<string, PolicyCase> = {
  'refreshes a session without limits': { env: {}, refreshes: [[1_000_000], [99_000_000]] },
  'applies a timebox despite refreshes': {
    env: { AUTH_SESSIONS_TIMEBOX: '1h' },
    refreshes: [[1800], [3599], [3600, expired], [9999, expired]],
  },
  'applies an inactivity timeout between refreshes': {
    env: { AUTH_SESSIONS_INACTIVITY_TIMEOUT: '1h' },
    refreshes: [[3599], [7198], [10_797], [14_397, inactive]],
  },
  'applies an inactivity timeout after the sign-in': {
    env: { AUTH_SESSIONS_INACTIVITY_TIMEOUT: '1h' },
    refreshes: [[3600, inactive]],
  },
  'reports a timebox before an inactivity timeout': {
    env: { AUTH_SESSIONS_TIMEBOX: '2h', AUTH_SESSIONS_INACTIVITY_TIMEOUT: '1h' },
    refreshes: [[3000], [6000], [7200, expired], [20_000, expired]],
  },
}

suite('session policy', () => {
  const serverFor = sharedServers()

  for (const [name, { env, refreshes }] of Object.entries(cases)) {
    test(name, async (t) => {
      const { app } = await serverFor({ ...autoconfirm, ...env })
      const at = clock(t)
      let { refresh_token: token } = await signUpUser(app)
      for (const [seconds, rejection] of refreshes) {
        at(seconds)
        const response = await refresh(app, token)
        if (rejection === undefined) {
          assert.equal(response.statusCode, 200, response.body)
          token = response.json().refresh_token
        } else {
          assert.deepEqual(getError(response), [400, 'session_expired', rejection])
        }
      }
    })
  }

  test('single session: keeps the last used session', async (t) => {
    const { app } = await serverFor({ ...autoconfirm, AUTH_SESSIONS_SINGLE_PER_USER: 'true' })
    const at = clock(t)
    const first = await signUpUser(app)
    at(1)
    const second = await signedIn(app, first.email)
    at(2)
    assert.deepEqual(getError(await refresh(app, first.refresh_token)), [
      400,
      'session_expired',
      replaced,
    ])
    assert.equal((await refresh(app, second.refresh_token)).statusCode, 200)
    const other = await signUpUser(app)
    assert.equal((await refresh(app, other.refresh_token)).statusCode, 200)
  })

  test('single session: rejects a step-up of a superseded session', async (t) => {
    const { app } = await serverFor({ ...everyFactor, AUTH_SESSIONS_SINGLE_PER_USER: 'true' })
    const at = clock(t)
    const { email, factor } = await userWithTotp(app)
    at(60)
    const first = await signedIn(app, email)
    at(120)
    const second = await signedIn(app, email)
    at(180)
    const { id: challenge_id } = await challenge(app, first, factor.id)
    const late = await verifyChallenge(app, first, factor.id, { challenge_id, code: factor.code() })
    const over = [403, 'session_expired', 'Session is no longer valid. Sign in again.']
    assert.deepEqual(getError(late), over)
    // The code was not consumed and is accepted in the other session.
    const steppedUp = await stepUp(app, second, factor)
    assert.equal((await refresh(app, steppedUp.refresh_token)).statusCode, 200)
  })

  test('single session: ignores a later session that has expired', async (t) => {
    const env = { AUTH_SESSIONS_SINGLE_PER_USER: 'true' }
    const { app } = await serverFor({ ...autoconfirm, ...env })
    const at = clock(t)
    const first = await signUpUser(app)
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

  test('single session per tag: keeps one session per tag', async (t) => {
    const env = { AUTH_SESSIONS_SINGLE_PER_USER: 'true', AUTH_SESSIONS_TAGS: 'web,phone' }
    const { app } = await serverFor({ ...autoconfirm, ...env })
    const at = clock(t)
    const { email, ...unnamed } = await signUpUser(app)
    at(1)
    const phone = await signedIn(app, email, { 'x-session-tag': 'phone' })
    at(2)
    const web = await signedIn(app, email, { 'x-session-tag': 'no such kind' })
    at(3)
    const responses = await Promise.all(
      [unnamed, phone, web].map((s) => refresh(app, s.refresh_token)),
    )
    assert.deepEqual(
      responses.map(({ statusCode }) => statusCode),
      [400, 200, 200],
    )
    const tags = await app.db.selectFrom('sessions').select('tag').orderBy('created_at').execute()
    assert.deepEqual(
      tags.map(({ tag }) => tag),
      ['web', 'phone', 'web'],
    )
  })

  test('rejects a banned user until the ban ends', async (t) => {
    const { app } = await serverFor(autoconfirm)
    const at = clock(t)
    const { user, refresh_token } = await signUpUser(app)
    const banned_until = new Date(Date.now() + 60_000)
    await updateUser(app.db, user.id, { banned_until }, new Date())
    const rejected = await refresh(app, refresh_token)
    assert.deepEqual(getError(rejected), [400, 'user_banned', 'Invalid Refresh Token: User Banned'])
    at(60)
    assert.equal((await refresh(app, refresh_token)).statusCode, 200)
  })

  test('rejects sessions of a soft-deleted user', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user, refresh_token } = await signUpUser(app)
    await updateUser(app.db, user.id, { deleted_at: new Date() }, new Date())
    const [status, code] = getError(await refresh(app, refresh_token))
    assert.deepEqual([status, code], [400, 'refresh_token_not_found'])
  })

  test('no access token outlives the timebox of its session', async (t) => {
    const { app } = await serverFor({ ...autoconfirm, AUTH_SESSIONS_TIMEBOX: '90m' })
    const at = clock(t)
    const session = await signUpUser(app)
    assert.equal(session.expires_in, 3600)
    at(3000)
    const { expires_in } = await lifetime(app, session.refresh_token)
    assert.equal(expires_in, 2400)
    const short = await serverFor({ ...autoconfirm, AUTH_SESSIONS_TIMEBOX: '10m' })
    assert.equal((await signUpUser(short.app)).expires_in, 600)
  })

  test('access tokens end with the inactivity of their session, so that clients in use refresh before it', async (t) => {
    const inactivity = { AUTH_SESSIONS_INACTIVITY_TIMEOUT: '20m' }
    const { app } = await serverFor({ ...autoconfirm, ...inactivity })
    const at = clock(t)
    const session = await signUpUser(app)
    assert.equal(session.expires_in, 1200)
    at(1199)
    assert.equal((await lifetime(app, session.refresh_token)).expires_in, 1200)
    at(1204)
    const { expires_in } = await lifetime(app, session.refresh_token)
    assert.equal(expires_in, 1195, 'reuse is no use')
  })

  test('access tokens have the session id and expire', async (t) => {
    const { app } = await serverFor({ ...autoconfirm, AUTH_JWT_EXP: '120' })
    const at = clock(t)
    const session = await signUpUser(app)
    at(119)
    const headers = { authorization: `Bearer ${session.access_token}` }
    assert.equal((await app.inject({ url: '/user', headers })).statusCode, 200)
    at(126)
    assert.equal((await app.inject({ url: '/user', headers })).json().error_code, 'bad_jwt')
    assert.equal(session.expires_in, 120)
  })
})

/** The seconds from a refresh to the end of its access token. */
async function lifetime(app: App, token: string) {
  const { access_token, refresh_token, expires_in } = (await refresh(app, token)).json()
  const { exp = 0, iat = 0 } = decodeJwt(access_token)
  assert.equal(exp - iat, expires_in)
  return { expires_in, refresh_token }
}

/** Stops the clock at a full second and returns how to move it. */
function clock(t: TestContext): (seconds: number) => void {
  const started = Math.ceil(Date.now() / 1000) * 1000
  t.mock.timers.enable({ apis: ['Date'], now: started })
  return (seconds) => t.mock.timers.setTime(started + seconds * 1000)
}

function getError(response: Awaited<ReturnType<typeof refresh>>) {
  const { error_code, msg } = response.json()
  return [response.statusCode, error_code, msg]
}
