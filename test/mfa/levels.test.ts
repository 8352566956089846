/** What a second factor guards: each action at each level, by the session that is stored and whatever its token says. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import {
  type Authenticator,
  addTotp,
  claimsOf,
  everyFactor,
  guarded,
  prove,
  send,
} from '../support/factors.ts'
import { newNumber, newPerson, signedIn } from '../support/people.ts'
import { outcomeOf, refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

type Act = (app: App, session: Session, factor: Authenticator) => ReturnType<typeof send>

const put =
  (body: object): Act =>
  (app, session) =>
    send(app, 'PUT', '/user', session, body)

/** What may be refused, and with what. */
const guardedActions: Record<string, { act: Act; refusal: unknown[] }> = {
  'enrolling another factor': {
    act: (app, session) =>
      send(app, 'POST', '/factors', session, { factor_type: 'totp', friendly_name: 'next' }),
    refusal: [403, 'insufficient_aal'],
  },
  'removing a verified factor': {
    act: (app, session, { id }) => send(app, 'DELETE', `/factors/${id}`, session),
    refusal: [422, 'insufficient_aal'],
  },
  'another password': {
    act: put({ password: 'another good password' }),
    refusal: [401, 'insufficient_aal'],
  },
  'another address': {
    act: (app, session) =>
      send(app, 'PUT', '/user', session, { email: `${crypto.randomUUID()}@example.com` }),
    refusal: [401, 'insufficient_aal'],
  },
  'another phone number': {
    act: (app, session) => send(app, 'PUT', '/user', session, { phone: newNumber() }),
    refusal: [401, 'insufficient_aal'],
  },
}

/** The same for everybody. */
const openActions: Record<string, Act> = {
  'another name': put({ data: { name: 'Ann' } }),
  'reading /user': (app, session) => send(app, 'GET', '/user', session),
  'the list of devices': (app, session) => send(app, 'GET', '/sessions', session),
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
  isRefused: boolean
  reach: (app: App, t: TestContext) => Promise<{ session: Session; factor: Authenticator }>
}

const situations: Record<string, Situation> = {
  'no factor': {
    env,
    isRefused: false,
    async reach(app) {
      const session = await newPerson(app)
      return { session, factor: await addTotp(app, session) }
    },
  },
  aal1: {
    env,
    isRefused: true,
    async reach(app) {
      const { email, factor } = await guarded(app)
      return { session: await signedIn(app, email), factor }
    },
  },
  aal2: { env, isRefused: false, reach: guarded },
  'aal2 by the token, none by the session that is stored': {
    env,
    isRefused: true,
    async reach(app) {
      const { session, factor } = await guarded(app)
      await app.pool.query(`update auth.sessions set aal = null where user_id = $1`, [
        session.user.id,
      ])
      return { session, factor }
    },
  },
  'aal2, proven within AUTH_MFA_FRESHNESS': { env: fresh, isRefused: false, reach: guarded },
  'aal2, proven longer ago': {
    env: fresh,
    isRefused: true,
    async reach(app, t) {
      const reached = await guarded(app)
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 601_000 })
      return reached
    },
  },
  'aal2, proven longer ago and again just now': {
    env: fresh,
    isRefused: false,
    async reach(app, t) {
      const { session, factor } = await guarded(app)
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 601_000 })
      return { session: await prove(app, session, factor), factor }
    },
  },
}

suite('what a second factor guards', () => {
  const serverFor = sharedServers()

  for (const [name, { env, isRefused, reach }] of Object.entries(situations)) {
    for (const [action, { act, refusal }] of Object.entries(guardedActions)) {
      test(`${name}: ${action} is ${isRefused ? 'refused' : 'done'}`, async (t) => {
        const { app } = await serverFor(env)
        const { session, factor } = await reach(app, t)
        const response = await act(app, session, factor)
        assert.deepEqual(outcomeOf(response), isRefused ? refusal : [200, ''], response.body)
      })
    }
    test(`${name}: everything else is done`, async (t) => {
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
  const serverFor = sharedServers()
  const limited = { ...env, AUTH_SESSIONS_ALLOW_LOW_AAL: '10m' }
  const expired = [
    400,
    'session_expired',
    'Invalid Refresh Token: Session Expired (Low AAL: User Needs MFA Verification)',
  ]

  test('ends a session that owes a second factor, and caps its tokens', async (t) => {
    const { app } = await serverFor(limited)
    const { email } = await guarded(app)
    const opened = await signedIn(app, email)
    const { iat, exp } = claimsOf(opened)
    assert.ok(Number(exp) - Number(iat) <= 600)
    assert.ok(opened.expires_in <= 600)
    assert.equal(opened.expires_at, exp)

    const start = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: start + 590_000 })
    const late = await refresh(app, opened.refresh_token)
    assert.equal(late.statusCode, 200, late.body)
    assert.ok(late.json().expires_in <= 11)
    t.mock.timers.setTime(start + 601_000)
    const refused = await refresh(app, late.json().refresh_token)
    const { error_code, msg } = refused.json()
    assert.deepEqual([refused.statusCode, error_code, msg], expired)
  })

  test('does not touch a session at aal2, nor people without a factor', async (t) => {
    const { app } = await serverFor(limited)
    const { session } = await guarded(app)
    const nobody = await newPerson(app)
    const beginner = await newPerson(app)
    await addTotp(app, beginner)
    assert.equal(session.expires_in, 3600)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3_000_000 })
    for (const { refresh_token } of [session, nobody, beginner]) {
      const response = await refresh(app, refresh_token)
      assert.deepEqual([response.statusCode, response.json().expires_in], [200, 3600])
    }
  })

  test('a session that ended so is no device any more', async (t) => {
    const { app } = await serverFor(limited)
    const { email, session } = await guarded(app)
    await signedIn(app, email)
    const devices = async () =>
      (await send(app, 'GET', '/sessions', session)).json().sessions.length
    assert.equal(await devices(), 2)
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 601_000 })
    assert.equal(await devices(), 1)
  })
})
