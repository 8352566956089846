/** Challenges of factors and answers to them, whatever the kind of factor. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { addTotp, enrol, everyFactor, send } from '../support/factors.ts'
import { newPerson } from '../support/people.ts'
import { outcomeOf } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'

suite('answering a challenge', () => {
  const serverFor = sharedServers()

  const kinds: [flag: string, factor: object, code: string, name: string][] = [
    [
      'AUTH_MFA_TOTP_VERIFY_ENABLED',
      { factor_type: 'totp' },
      'mfa_totp_verify_not_enabled',
      'TOTP',
    ],
    [
      'AUTH_MFA_PHONE_VERIFY_ENABLED',
      { factor_type: 'phone', phone: '+15550107' },
      'mfa_phone_verify_not_enabled',
      'Phone',
    ],
    [
      'AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED',
      { factor_type: 'webauthn' },
      'mfa_webauthn_verify_not_enabled',
      'WebAuthn',
    ],
  ]
  for (const [flag, factor, code, name] of kinds) {
    test(`${flag}=false: a factor of this kind is neither asked nor accepted`, async () => {
      const { app } = await serverFor({ ...everyFactor, [flag]: 'false' })
      const person = await newPerson(app)
      const enrolled = await enrol(app, person, factor)
      assert.equal(enrolled.statusCode, 200, enrolled.body)
      const body = { challenge_id: crypto.randomUUID(), code: '123456' }
      for (const end of ['challenge', 'verify']) {
        const url = `/factors/${enrolled.json().id}/${end}`
        const refused = await send(app, 'POST', url, person, body)
        assert.deepEqual(outcomeOf(refused), [422, code])
        assert.equal(refused.json().msg, `MFA verification is disabled for ${name}`)
      }
    })
  }

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
})
