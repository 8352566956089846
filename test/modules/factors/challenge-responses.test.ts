/** Challenges and responses of all factor types. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { addTotp, enrol, everyFactor, send } from '../../support/factors/factors.ts'
import { serversOnOneDatabase } from '../../support/processes/shared-servers.ts'
import { statusAndCode } from '../../support/requests.ts'
import { signUpUser } from '../../support/users.ts'

suite('factor challenge and verify', () => {
  const serverFor = serversOnOneDatabase()

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
    test(`${flag}=false: rejects challenges and responses of the type`, async () => {
      const { app } = await serverFor({ ...everyFactor, [flag]: 'false' })
      const user = await signUpUser(app)
      const enrolled = await enrol(app, user, factor)
      assert.equal(enrolled.statusCode, 200, enrolled.body)
      const body = { challenge_id: crypto.randomUUID(), code: '123456' }
      for (const end of ['challenge', 'verify']) {
        const url = `/factors/${enrolled.json().id}/${end}`
        const rejected = await send(app, 'POST', url, user, body)
        assert.deepEqual(statusAndCode(rejected), [422, code])
        assert.match(
          rejected.json().msg,
          new RegExp(
            `^MFA verification is disabled for ${name}: set AUTH_MFA_\\w+_VERIFY_ENABLED=true$`,
          ),
        )
      }
    })
  }

  const wrongIds = {
    'not a UUID': ['x', 'validation_failed'],
    unknown: [crypto.randomUUID(), 'mfa_factor_not_found'],
  }
  for (const [name, [id, code]] of Object.entries(wrongIds)) {
    test(`returns 404 for an id that is ${name}`, async () => {
      const { app } = await serverFor(everyFactor)
      const user = await signUpUser(app)
      const body = { challenge_id: crypto.randomUUID(), code: '123456' }
      const responses = [
        await send(app, 'POST', `/factors/${id}/challenge`, user),
        await send(app, 'POST', `/factors/${id}/verify`, user, body),
        await send(app, 'DELETE', `/factors/${id}`, user),
      ]
      for (const response of responses) assert.deepEqual(statusAndCode(response), [404, code])
    })
  }

  const badResponses: Record<string, [body: object, outcome: unknown[]]> = {
    'a response without a challenge': [{ code: '123456' }, [400, 'bad_json']],
    'a malformed challenge_id': [{ challenge_id: 'x', code: '1' }, [400, 'bad_json']],
    'a response without a code': [
      { challenge_id: crypto.randomUUID() },
      [400, 'validation_failed'],
    ],
    'an empty code': [{ challenge_id: crypto.randomUUID(), code: '' }, [400, 'validation_failed']],
    'an unknown challenge': [
      { challenge_id: crypto.randomUUID(), code: '123456' },
      [422, 'mfa_factor_not_found'],
    ],
  }
  for (const [name, [body, outcome]] of Object.entries(badResponses)) {
    test(`rejects ${name}`, async () => {
      const { app } = await serverFor(everyFactor)
      const user = await signUpUser(app)
      const { id } = await addTotp(app, user)
      const response = await send(app, 'POST', `/factors/${id}/verify`, user, body)
      assert.deepEqual(statusAndCode(response), outcome)
    })
  }

  test('creates a challenge without a body', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const { id } = await addTotp(app, user)
    const headers = { authorization: `Bearer ${user.access_token}` }
    const url = `/factors/${id}/challenge`
    assert.equal((await app.inject({ method: 'POST', url, headers })).statusCode, 200)
  })

  test('AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY limits challenges and responses separately', async () => {
    const { app } = await serverFor({
      ...everyFactor,
      AUTH_RATE_LIMIT_HEADER: 'X-Real-IP',
      AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: '2',
    })
    const user = await signUpUser(app)
    const { id } = await addTotp(app, user)
    const headers = { authorization: `Bearer ${user.access_token}`, 'x-real-ip': '203.0.113.7' }
    const payload = { challenge_id: crypto.randomUUID(), code: '123456' }
    for (const [end, status] of [
      ['challenge', 200],
      ['verify', 422],
    ] as const) {
      const url = `/factors/${id}/${end}`
      const send = async () =>
        (await app.inject({ method: 'POST', url, headers, payload })).statusCode
      assert.deepEqual([await send(), await send(), await send()], [status, status, 429])
    }
  })
})
