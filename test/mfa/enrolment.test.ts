/** Who may add which factors, and how many. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { adminCall, asAdmin } from '../support/admin.ts'
import { addTotp, challenge, everyFactor, guarded, prove, send } from '../support/factors.ts'
import { idle } from '../support/mail-journeys.ts'
import { newPerson, signedIn } from '../support/people.ts'
import { getUser, outcomeOf } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const totp = { factor_type: 'totp' }
const off = {
  ...everyFactor,
  AUTH_MFA_TOTP_ENROLL_ENABLED: 'false',
  AUTH_MFA_PHONE_ENROLL_ENABLED: 'false',
  AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: 'false',
}

const enrol = (app: App, token: Pick<Session, 'access_token'>, body: object) =>
  send(app, 'POST', '/factors', token, body)

suite('adding a factor', () => {
  const serverFor = sharedServers()

  const refused: Record<string, [body: object, outcome: unknown[], env?: Record<string, string>]> =
    {
      'no type': [{}, [400, 'validation_failed']],
      'an unknown type': [{ factor_type: 'pigeon' }, [400, 'validation_failed']],
      'totp, switched off': [totp, [422, 'mfa_totp_enroll_not_enabled'], off],
      'phone, switched off': [
        { factor_type: 'phone', phone: '+15550107' },
        [422, 'mfa_phone_enroll_not_enabled'],
        off,
      ],
      'webauthn, switched off': [
        { factor_type: 'webauthn' },
        [422, 'mfa_webauthn_enroll_not_enabled'],
        off,
      ],
      'an endless name': [{ ...totp, friendly_name: 'x'.repeat(256) }, [400, 'validation_failed']],
      'an endless issuer': [{ ...totp, issuer: 'x'.repeat(65) }, [400, 'validation_failed']],
    }
  for (const [name, [body, outcome, env = everyFactor]] of Object.entries(refused)) {
    test(`${name} is refused`, async () => {
      const { app } = await serverFor(env)
      assert.deepEqual(outcomeOf(await enrol(app, await newPerson(app), body)), outcome)
    })
  }

  test('phones and security keys are off by default', async () => {
    const { app } = await serverFor({ AUTH_MAILER_AUTOCONFIRM: 'true' })
    const person = await newPerson(app)
    for (const type of ['phone', 'webauthn']) {
      const body = { factor_type: type, phone: '+15550107' }
      const outcome = outcomeOf(await enrol(app, person, body))
      assert.deepEqual(outcome, [422, `mfa_${type}_enroll_not_enabled`])
    }
    await addTotp(app, person)
  })

  const kinds: [flag: string, factor: object, code: string][] = [
    ['AUTH_MFA_TOTP_VERIFY_ENABLED', totp, 'mfa_totp_verify_not_enabled'],
    [
      'AUTH_MFA_PHONE_VERIFY_ENABLED',
      { factor_type: 'phone', phone: '+15550107' },
      'mfa_phone_verify_not_enabled',
    ],
    [
      'AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED',
      { factor_type: 'webauthn' },
      'mfa_webauthn_verify_not_enabled',
    ],
  ]
  for (const [flag, factor, code] of kinds) {
    test(`${flag}=false: a factor of this kind is neither asked nor accepted`, async () => {
      const { app } = await serverFor({ ...everyFactor, [flag]: 'false' })
      const person = await newPerson(app)
      const enrolled = await enrol(app, person, factor)
      assert.equal(enrolled.statusCode, 200, enrolled.body)
      const body = { challenge_id: crypto.randomUUID(), code: '123456' }
      for (const end of ['challenge', 'verify']) {
        const url = `/factors/${enrolled.json().id}/${end}`
        assert.deepEqual(outcomeOf(await send(app, 'POST', url, person, body)), [422, code])
      }
    })
  }

  test('a name is taken once by a person, the empty one too', async () => {
    const { app } = await serverFor(everyFactor)
    const [person, other] = [await newPerson(app), await newPerson(app)]
    for (const friendly_name of ['', 'My phone']) {
      const body = { ...totp, friendly_name }
      assert.equal((await enrol(app, person, body)).statusCode, 200)
      const outcome = outcomeOf(await enrol(app, person, body))
      assert.deepEqual(outcome, [422, 'mfa_factor_name_conflict'])
      assert.equal((await enrol(app, other, body)).statusCode, 200)
    }
  })

  test('AUTH_MFA_MAX_ENROLLED_FACTORS, racing requests included', async () => {
    const { app } = await serverFor({ ...everyFactor, AUTH_MFA_MAX_ENROLLED_FACTORS: '2' })
    const person = await newPerson(app)
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((friendly_name) => enrol(app, person, { ...totp, friendly_name })),
    )
    const outcomes = answers.map(outcomeOf).filter(([status]) => status !== 200)
    const full = [422, 'too_many_enrolled_mfa_factors']
    assert.deepEqual(outcomes, [full, full])
  })

  test('AUTH_MFA_MAX_VERIFIED_FACTORS', async () => {
    const { app } = await serverFor({ ...everyFactor, AUTH_MFA_MAX_VERIFIED_FACTORS: '1' })
    const { session } = await guarded(app)
    const outcome = outcomeOf(await enrol(app, session, { ...totp, friendly_name: 'second' }))
    assert.deepEqual(outcome, [422, 'too_many_enrolled_mfa_factors'])
  })

  test('AUTH_MFA_FACTOR_EXPIRY_DURATION: what was abandoned makes room', async (t) => {
    const { app } = await serverFor({ ...everyFactor, AUTH_MFA_FACTOR_EXPIRY_DURATION: '10m' })
    const person = await newPerson(app)
    const { id } = await addTotp(app, person)
    const start = Date.now()
    t.mock.timers.enable({ apis: ['Date'], now: start + 590_000 })
    const conflict = [422, 'mfa_factor_name_conflict']
    assert.deepEqual(outcomeOf(await enrol(app, person, totp)), conflict, 'it is too young')
    await challenge(app, person, id)
    t.mock.timers.setTime(start + 610_000)
    assert.deepEqual(outcomeOf(await enrol(app, person, totp)), conflict, 'somebody is at it')
    t.mock.timers.setTime(start + 900_000)
    assert.equal((await enrol(app, person, totp)).statusCode, 200)
    const { factors } = (await getUser(app, person)).json()
    assert.equal(factors.length, 1)
  })

  test('without a token, or without a session: 401', async () => {
    const { app } = await serverFor(everyFactor)
    const { user } = await newPerson(app)
    const url = '/factors'
    const nobody = await app.inject({ method: 'POST', url, payload: totp })
    assert.deepEqual(outcomeOf(nobody), [401, 'no_authorization'])
    const role = 'authenticated'
    const made = { role, sub: user.id, seconds: 60 }
    const access_token = await app.jwt.signApiToken(made, new Date())
    assert.deepEqual(outcomeOf(await enrol(app, { access_token }, totp)), [401, 'no_authorization'])
  })

  test('somebody anonymous: 403', async () => {
    const { app } = await serverFor({
      ...everyFactor,
      AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
    })
    const signedUp = await app.inject({ method: 'POST', url: '/signup', payload: {} })
    assert.deepEqual(outcomeOf(await enrol(app, signedUp.json(), totp)), [403, 'no_authorization'])
  })

  test('an admin in the place of the person touches no factor', async () => {
    const { app } = await serverFor({ ...everyFactor, AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' })
    const { session, factor } = await guarded(app)
    const url = `/admin/users/${session.user.id}/impersonate`
    const acting = await adminCall<Session>(app, 'POST', url, { reason: 'ticket 7' })
    const { id } = factor
    const tries = [
      enrol(app, acting, totp),
      send(app, 'POST', `/factors/${id}/challenge`, acting),
      send(app, 'DELETE', `/factors/${id}`, acting),
    ]
    for (const response of await Promise.all(tries)) {
      assert.deepEqual(outcomeOf(response), [403, 'session_impersonated'])
    }
  })

  const wrongIds = {
    'not a UUID': ['x', 'validation_failed'],
    unknown: [crypto.randomUUID(), 'mfa_factor_not_found'],
  }
  for (const [name, [id, code]] of Object.entries(wrongIds)) {
    test(`an id that is ${name}: 404`, async () => {
      const { app } = await serverFor(everyFactor)
      const person = await newPerson(app)
      const body = { challenge_id: crypto.randomUUID(), code: '123456' }
      const answers = [
        await send(app, 'POST', `/factors/${id}/challenge`, person),
        await send(app, 'POST', `/factors/${id}/verify`, person, body),
        await send(app, 'DELETE', `/factors/${id}`, person),
      ]
      for (const response of answers) assert.deepEqual(outcomeOf(response), [404, code])
    })
  }

  const badAnswers: Record<string, [body: object, outcome: unknown[]]> = {
    'no challenge': [{ code: '123456' }, [400, 'bad_json']],
    'a challenge that is no UUID': [{ challenge_id: 'x', code: '1' }, [400, 'bad_json']],
    'no code': [{ challenge_id: crypto.randomUUID() }, [400, 'validation_failed']],
    'an empty code': [{ challenge_id: crypto.randomUUID(), code: '' }, [400, 'validation_failed']],
    'an unknown challenge': [
      { challenge_id: crypto.randomUUID(), code: '123456' },
      [422, 'mfa_factor_not_found'],
    ],
  }
  for (const [name, [body, outcome]] of Object.entries(badAnswers)) {
    test(`an answer with ${name}`, async () => {
      const { app } = await serverFor(everyFactor)
      const person = await newPerson(app)
      const { id } = await addTotp(app, person)
      const response = await send(app, 'POST', `/factors/${id}/verify`, person, body)
      assert.deepEqual(outcomeOf(response), outcome)
    })
  }

  test('a challenge needs no body', async () => {
    const { app } = await serverFor(everyFactor)
    const person = await newPerson(app)
    const { id } = await addTotp(app, person)
    const headers = { authorization: `Bearer ${person.access_token}` }
    const url = `/factors/${id}/challenge`
    assert.equal((await app.inject({ method: 'POST', url, headers })).statusCode, 200)
  })

  test('AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY, for challenges and answers apart', async () => {
    const { app } = await serverFor({
      ...everyFactor,
      AUTH_RATE_LIMIT_HEADER: 'X-Real-IP',
      AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: '2',
    })
    const person = await newPerson(app)
    const { id } = await addTotp(app, person)
    const headers = { authorization: `Bearer ${person.access_token}`, 'x-real-ip': '203.0.113.7' }
    const payload = { challenge_id: crypto.randomUUID(), code: '123456' }
    for (const [end, status] of [
      ['challenge', 200],
      ['verify', 422],
    ] as const) {
      const url = `/factors/${id}/${end}`
      const ask = async () =>
        (await app.inject({ method: 'POST', url, headers, payload })).statusCode
      assert.deepEqual([await ask(), await ask(), await ask()], [status, status, 429])
    }
  })

  test('the audit trail tells of each step', async () => {
    const { app } = await serverFor(everyFactor)
    const { session, factor } = await guarded(app)
    await send(app, 'DELETE', `/factors/${factor.id}`, session)
    const { rows } = await app.pool.query(
      `select payload->>'action' as action, payload->'traits'->>'factor_id' as factor
       from auth.audit_log_entries where payload->>'log_type' = 'factor' and payload->>'actor_id' = $1
       order by created_at`,
      [session.user.id],
    )
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['factor_in_progress', 'challenge_created', 'verification_attempted', 'factor_unenrolled'],
    )
    assert.ok(rows.every((row) => row.factor === factor.id))
  })

  test('people are told of a factor added and removed, not of one that was only tried', async () => {
    const { app, mail } = await serverFor({
      ...everyFactor,
      AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_ENROLLED_ENABLED: 'true',
      AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_UNENROLLED_ENABLED: 'true',
    })
    const tried = await newPerson(app)
    const { id } = await addTotp(app, tried)
    await send(app, 'DELETE', `/factors/${id}`, tried)
    const { email, factor, session } = await guarded(app)
    const raised = await prove(app, session, factor, 1)
    await send(app, 'DELETE', `/factors/${factor.id}`, raised)
    const subject = 'A verification method was removed from your account'
    await mail.waitFor((message) => message.to === email && message.mail.subject === subject)
    const subjects = mail.messages.filter(({ to }) => to === email).map((one) => one.mail.subject)
    assert.deepEqual(subjects.sort(), [
      'A new verification method was added to your account',
      subject,
    ])
    assert.ok(mail.messages.every(({ to }) => to !== tried.email))
  })

  test('an admin removes a factor without a mail, and its sessions fall back', async () => {
    const server = await serverFor({
      ...everyFactor,
      AUTH_MAILER_NOTIFICATIONS_MFA_FACTOR_UNENROLLED_ENABLED: 'true',
    })
    const { app, mail } = server
    const { email, session, factor } = await guarded(app)
    const url = `/admin/users/${session.user.id}/factors/${factor.id}`
    assert.equal((await asAdmin(app, 'DELETE', url)).statusCode, 200)
    await idle(server)
    assert.ok(mail.messages.every(({ to }) => to !== email))
    const outcome = outcomeOf(await enrol(app, session, totp))
    assert.deepEqual(outcome, [200, ''])
    assert.equal((await signedIn(app, email)).user.factors?.length, 1)
  })

  test('a factor from before the address was proven goes with the password', async () => {
    const { app } = await serverFor({
      ...everyFactor,
      AUTH_MAILER_AUTOCONFIRM: 'false',
      AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true',
    })
    const email = `${crypto.randomUUID()}@example.com`
    const password = 'a password of a stranger'
    const signUp = await app.inject({
      method: 'POST',
      url: '/signup',
      payload: { email, password },
    })
    const stranger = signUp.json().access_token
      ? signUp.json()
      : await signInBy(app, email, password)
    await prove(app, stranger, await addTotp(app, stranger))
    const { user } = stranger
    await app.db.transaction().execute(async (trx) => {
      const locked = (await app.users.lock(trx, user.id)) ?? assert.fail()
      const keepIdentity = { provider: 'email' } as const
      await app.users.dropUnproven(trx, locked, { keepIdentity, passwordHash: null }, new Date())
    })
    const { rows } = await app.pool.query('select id from auth.mfa_factors where user_id = $1', [
      user.id,
    ])
    assert.deepEqual(rows, [])
  })
})

async function signInBy(app: App, email: string, password: string): Promise<Session> {
  const url = '/token?grant_type=password'
  const response = await app.inject({ method: 'POST', url, payload: { email, password } })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}
