/** Limits and conditions of enrollment. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { adminCall } from '../../support/admin.ts'
import {
  addTotp,
  challenge,
  enrol,
  everyFactor,
  send,
  userWithTotp,
} from '../../support/factors/factors.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { getUser, statusAndCode } from '../../support/requests.ts'
import { signUpUser } from '../../support/users.ts'

const totp = { factor_type: 'totp' }
const off = {
  ...everyFactor,
  AUTH_MFA_TOTP_ENROLL_ENABLED: 'false',
  AUTH_MFA_PHONE_ENROLL_ENABLED: 'false',
  AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'false',
}

suite('POST /factors', () => {
  const serverFor = serversOnOneDatabase()

  const rejectedBodies: Record<
    string,
    [body: object, outcome: unknown[], env?: Record<string, string>]
  > = {
    'a request without a type': [{}, [400, 'validation_failed']],
    'an unknown type': [{ factor_type: 'pigeon' }, [400, 'validation_failed']],
    'totp while it is disabled': [totp, [422, 'mfa_totp_enroll_not_enabled'], off],
    'phone while it is disabled': [
      { factor_type: 'phone', phone: '+15550107' },
      [422, 'mfa_phone_enroll_not_enabled'],
      off,
    ],
    'webauthn while it is disabled': [
      { factor_type: 'webauthn' },
      [422, 'mfa_webauthn_enroll_not_enabled'],
      off,
    ],
    'a name above the length limit': [
      { ...totp, friendly_name: 'x'.repeat(256) },
      [400, 'validation_failed'],
    ],
    'an issuer above the length limit': [
      { ...totp, issuer: 'x'.repeat(65) },
      [400, 'validation_failed'],
    ],
  }
  for (const [name, [body, outcome, env = everyFactor]] of Object.entries(rejectedBodies)) {
    test(`rejects ${name}`, async () => {
      const { app } = await serverFor(env)
      assert.deepEqual(statusAndCode(await enrol(app, await signUpUser(app), body)), outcome)
    })
  }

  test('rejects phones and security keys by default', async () => {
    const { app } = await serverFor({ AUTH_MAILER_AUTOCONFIRM: 'true' })
    const user = await signUpUser(app)
    for (const [type, name] of [
      ['phone', 'Phone'],
      ['webauthn', 'WebAuthn'],
    ]) {
      const rejectedBodies = await enrol(app, user, { factor_type: type, phone: '+15550107' })
      assert.deepEqual(statusAndCode(rejectedBodies), [422, `mfa_${type}_enroll_not_enabled`])
      assert.match(
        rejectedBodies.json().msg,
        new RegExp(`^MFA enroll is disabled for ${name}: set AUTH_MFA_\\w+_ENROLL_ENABLED=true$`),
      )
    }
    await addTotp(app, user)
  })

  test('rejects a name used by another factor of the user, also an empty one', async () => {
    const { app } = await serverFor(everyFactor)
    const [user, other] = [await signUpUser(app), await signUpUser(app)]
    for (const friendly_name of ['', 'My phone']) {
      const body = { ...totp, friendly_name }
      assert.equal((await enrol(app, user, body)).statusCode, 200)
      const outcome = statusAndCode(await enrol(app, user, body))
      assert.deepEqual(outcome, [422, 'mfa_factor_name_conflict'])
      assert.equal((await enrol(app, other, body)).statusCode, 200)
    }
  })

  test('AUTH_MFA_MAX_ENROLLED_FACTORS limits racing requests', async () => {
    const { app } = await serverFor({ ...everyFactor, AUTH_MFA_MAX_ENROLLED_FACTORS: '2' })
    const user = await signUpUser(app)
    const responses = await Promise.all(
      ['a', 'b', 'c', 'd'].map((friendly_name) => enrol(app, user, { ...totp, friendly_name })),
    )
    const outcomes = responses.map(statusAndCode).filter(([status]) => status !== 200)
    const full = [422, 'too_many_enrolled_mfa_factors']
    assert.deepEqual(outcomes, [full, full])
  })

  test('AUTH_MFA_MAX_VERIFIED_FACTORS limits verified factors', async () => {
    const { app } = await serverFor({ ...everyFactor, AUTH_MFA_MAX_VERIFIED_FACTORS: '1' })
    const { session } = await userWithTotp(app)
    const second = await enrol(app, session, { ...totp, friendly_name: 'second' })
    assert.deepEqual(statusAndCode(second), [422, 'too_many_enrolled_mfa_factors'])
    const msg = 'Maximum number of verified factors reached, unenroll to continue'
    assert.equal(second.json().msg, msg)
  })

  test('AUTH_MFA_FACTOR_EXPIRY_DURATION removes abandoned factors', async (t) => {
    const { app } = await serverFor({
      ...everyFactor,
      AUTH_MFA_FACTOR_EXPIRY_DURATION: '10m',
      AUTH_SECURITY_FRESH_PROOF_MAX_AGE: '1h',
    })
    const user = await signUpUser(app)
    const { id } = await addTotp(app, user)
    const start = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: start + 590_000 })
    const conflict = [422, 'mfa_factor_name_conflict']
    assert.deepEqual(statusAndCode(await enrol(app, user, totp)), conflict, 'it is too young')
    await challenge(app, user, id)
    t.mock.timers.setTime(start + 610_000)
    assert.deepEqual(statusAndCode(await enrol(app, user, totp)), conflict, 'a user is at it')
    t.mock.timers.setTime(start + 900_000)
    assert.equal((await enrol(app, user, totp)).statusCode, 200)
    const { factors } = (await getUser(app, user)).json()
    assert.equal(factors.length, 1)
  })

  test('returns 401 without a token or a session', async () => {
    const { app } = await serverFor(everyFactor)
    const { user } = await signUpUser(app)
    const url = '/factors'
    const unknown = await app.inject({ method: 'POST', url, payload: totp })
    assert.deepEqual(statusAndCode(unknown), [401, 'no_authorization'])
    const role = 'authenticated'
    const made = { role, sub: user.id, seconds: 60 }
    const access_token = await app.jwt.signApiToken(made, new Date())
    assert.deepEqual(statusAndCode(await enrol(app, { access_token }, totp)), [
      401,
      'no_authorization',
    ])
  })

  test('returns 403 for an anonymous user', async () => {
    const { app } = await serverFor({
      ...everyFactor,
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    })
    const signedUp = await app.inject({ method: 'POST', url: '/signup', payload: {} })
    assert.deepEqual(statusAndCode(await enrol(app, signedUp.json(), totp)), [
      403,
      'no_authorization',
    ])
  })

  test('rejects changes of factors by an impersonating admin', async () => {
    const { app } = await serverFor({ ...everyFactor, AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' })
    const { session, factor } = await userWithTotp(app)
    const url = `/admin/users/${session.user.id}/impersonate`
    const acting = await adminCall<Session>(app, 'POST', url, { reason: 'ticket 7' })
    const { id } = factor
    const tries = [
      enrol(app, acting, totp),
      send(app, 'POST', `/factors/${id}/challenge`, acting),
      send(app, 'DELETE', `/factors/${id}`, acting),
    ]
    for (const response of await Promise.all(tries)) {
      assert.deepEqual(statusAndCode(response), [403, 'session_impersonated'])
    }
  })
})
