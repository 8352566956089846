/** Actions that require aal2, by the stored session, not by the claims of the token. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import {
  type Authenticator,
  addTotp,
  everyFactor,
  send,
  stepUp,
  tokenClaims,
  userWithTotp,
} from '../../support/factors/factors.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { newNumber, signedIn, signUpUser } from '../../support/users.ts'

type Act = (app: App, session: Session, factor: Authenticator) => ReturnType<typeof send>

const put =
  (body: object): Act =>
  (app, session) =>
    send(app, 'PUT', '/user', session, body)

/** Actions that may be rejected, and the error. */
const guardedActions: Record<string, { act: Act; rejection: unknown[] }> = {
  'enrolling another factor': {
    act: (app, session) =>
      send(app, 'POST', '/factors', session, { factor_type: 'totp', friendly_name: 'next' }),
    rejection: [403, 'insufficient_aal'],
  },
  'removing a verified factor': {
    act: (app, session, { id }) => send(app, 'DELETE', `/factors/${id}`, session),
    rejection: [422, 'insufficient_aal'],
  },
  'changing the password': {
    act: put({ password: 'changing the email' }),
    rejection: [401, 'insufficient_aal'],
  },
  'changing the phone': {
    act: (app, session) =>
      send(app, 'PUT', '/user', session, { email: `${crypto.randomUUID()}@example.com` }),
    rejection: [401, 'insufficient_aal'],
  },
  'changing the name': {
    act: (app, session) => send(app, 'PUT', '/user', session, { phone: newNumber() }),
    rejection: [401, 'insufficient_aal'],
  },
}

/** The same for every user. */
const openActions: Record<string, Act> = {
  'another name': put({ data: { name: 'Ann' } }),
  'listing sessions': (app, session) => send(app, 'GET', '/user', session),
  'creating a challenge': (app, session) => send(app, 'GET', '/sessions', session),
  'a challenge': (app, session, { id }) => send(app, 'POST', `/factors/${id}/challenge`, session),
}

const env = {
  ...everyFactor,
  AUTH_EXTERNAL_PHONE_ENABLED: 'true',
  AUTH_SMS_AUTOCONFIRM: 'true',
  AUTH_SMS_PROVIDER: 'twilio',
  AUTH_SMS_TWILIO_ACCOUNT_SID: 'AC1',
  AUTH_SMS_TWILIO_AUTH_TOKEN: 'secret',
  AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: 'MG1',
}
const fresh = { ...env, AUTH_MFA_FRESHNESS: '10m' }

interface Situation {
  env: Record<string, string>
  isRejected: boolean
  reach: (app: App, t: TestContext) => Promise<{ session: Session; factor: Authenticator }>
}

const situations: Record<string, Situation> = {
  'no factor': {
    env,
    isRejected: false,
    async reach(app) {
      const session = await signUpUser(app)
      return { session, factor: await addTotp(app, session) }
    },
  },
  aal1: {
    env,
    isRejected: true,
    async reach(app) {
      const { email, factor } = await userWithTotp(app)
      return { session: await signedIn(app, email), factor }
    },
  },
  aal2: { env, isRejected: false, reach: userWithTotp },
  'aal2 in the token and aal1 in the stored session': {
    env,
    isRejected: true,
    async reach(app) {
      const { session, factor } = await userWithTotp(app)
      await app.pool.query(`update auth.sessions set aal = null where user_id = $1`, [
        session.user.id,
      ])
      return { session, factor }
    },
  },
  'aal2, verified within AUTH_MFA_FRESHNESS': {
    env: fresh,
    isRejected: false,
    reach: userWithTotp,
  },
  'aal2, verified before AUTH_MFA_FRESHNESS': {
    env: fresh,
    isRejected: true,
    async reach(app, t) {
      const reached = await userWithTotp(app)
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 601_000 })
      return reached
    },
  },
  'aal2, verified again within AUTH_MFA_FRESHNESS': {
    env: fresh,
    isRejected: false,
    async reach(app, t) {
      const { session, factor } = await userWithTotp(app)
      // The user has had the factor for longer than a day.
      await app.pool.query('delete from auth.postern_new_sign_in_methods where user_id = $1', [
        session.user.id,
      ])
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 601_000 })
      return { session: await stepUp(app, session, factor), factor }
    },
  },
}

suite('actions that require aal2', () => {
  const serverFor = serversOnOneDatabase()

  for (const [name, { env, isRejected, reach }] of Object.entries(situations)) {
    for (const [action, { act, rejection }] of Object.entries(guardedActions)) {
      test(`${name}: ${isRejected ? 'rejects' : 'allows'} ${action}`, async (t) => {
        const { app } = await serverFor(env)
        const { session, factor } = await reach(app, t)
        const response = await act(app, session, factor)
        assert.deepEqual(statusAndCode(response), isRejected ? rejection : [200, ''], response.body)
      })
    }
    test(`${name}: allows all other actions`, async (t) => {
      const { app } = await serverFor(env)
      const { session, factor } = await reach(app, t)
      for (const [action, act] of Object.entries(openActions)) {
        const response = await act(app, session, factor)
        assert.equal(response.statusCode, 200, `${action}: ${response.body}`)
      }
    })
  }
})

suite('AUTH_SESSIONS_ALLOW_LOW_AAL', () => {
  const serverFor = serversOnOneDatabase()
  const limited = { ...env, AUTH_SESSIONS_ALLOW_LOW_AAL: '10m' }
  const expired = [
    400,
    'session_expired',
    'Invalid Refresh Token: Session Expired (Low AAL: User Needs MFA Verification)',
  ]

  test('revokes an aal1 session of a user with a factor and limits its tokens', async (t) => {
    const { app } = await serverFor(limited)
    const { email } = await userWithTotp(app)
    const opened = await signedIn(app, email)
    const { iat, exp } = tokenClaims(opened)
    assert.ok(Number(exp) - Number(iat) <= 600)
    assert.ok(opened.expires_in <= 600)
    assert.equal(opened.expires_at, exp)

    const start = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: start + 590_000 })
    const late = await refresh(app, opened.refresh_token)
    assert.equal(late.statusCode, 200, late.body)
    assert.ok(late.json().expires_in <= 11)
    t.mock.timers.setTime(start + 601_000)
    const rejected = await refresh(app, late.json().refresh_token)
    const { error_code, msg } = rejected.json()
    assert.deepEqual([rejected.statusCode, error_code, msg], expired)
  })

  test('does not apply to aal2 sessions and users without a factor', async (t) => {
    const { app } = await serverFor(limited)
    const { session } = await userWithTotp(app)
    const unknown = await signUpUser(app)
    const beginner = await signUpUser(app)
    await addTotp(app, beginner)
    assert.equal(session.expires_in, 3600)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3_000_000 })
    for (const { refresh_token } of [session, unknown, beginner]) {
      const response = await refresh(app, refresh_token)
      assert.deepEqual([response.statusCode, response.json().expires_in], [200, 3600])
    }
  })

  test('omits revoked aal1 sessions from the session list', async (t) => {
    const { app } = await serverFor(limited)
    const { email, session } = await userWithTotp(app)
    await signedIn(app, email)
    const devices = async () =>
      (await send(app, 'GET', '/sessions', session)).json().sessions.length
    assert.equal(await devices(), 2)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 601_000 })
    assert.equal(await devices(), 1)
  })
})
