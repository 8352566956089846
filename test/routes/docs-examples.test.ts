/** What the API reference offers to try works at the first try, without a change. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { examples } from '../../plugins/openapi/examples.ts'
import { endingOfSuite } from '../support/ending.ts'
import { type App, build } from '../support/server.ts'
import { serviceRole } from '../support/server-process.ts'

/** They need what only a person, a mail or an authenticator has, and are of the right form all the same. */
const needMore: Record<string, string> = {
  'post /token': 'email_not_confirmed',
  'post /verify': 'otp_expired',
  'put /user': 'no_authorization',
  'post /factors': 'no_authorization',
  'post /factors/{factor_id}/verify': 'no_authorization',
  'post /factors/recovery_codes/verify': 'no_authorization',
  'patch /passkeys/{passkey_id}': 'no_authorization',
}

suite('examples of the API reference', () => {
  let app: App
  const ending = endingOfSuite()
  before(async () => {
    const env = { AUTH_EVENTS_ENABLED: 'true', AUTH_PASSKEY_ENABLED: 'true' }
    const rest = {
      AUTH_WEBAUTHN_RP_ID: 'localhost',
      AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'x',
      AUTH_WEBAUTHN_RP_ORIGINS: 'http://localhost',
    }
    app = (await build(ending, { dev: true, env: { ...env, ...rest } })).app
  })

  for (const [name, payload] of Object.entries(examples)) {
    test(name, async () => {
      const [method = '', path = ''] = name.split(' ')
      const query = path === '/token' ? '?grant_type=password' : ''
      const id = '9d3c1f0e-8f0b-4a39-9b1c-3a6d9a7f5e21'
      const isOpen = !path.startsWith('/admin') && path !== '/invite'
      const response = await app.inject({
        method: method.toUpperCase() as 'POST',
        url: path.replace(/\{\w+\}/, id) + query,
        payload,
        ...(!isOpen && { headers: { authorization: `Bearer ${await serviceRole()}` } }),
      })
      const expected = needMore[name]
      if (expected !== undefined) assert.equal(response.json().error_code, expected)
      else assert.ok(response.statusCode < 300, response.body)
    })
  }

  test('each stands in the document', async () => {
    const { paths } = (await app.inject('/openapi.json')).json()
    for (const [name, example] of Object.entries(examples)) {
      const [method = '', path = ''] = name.split(' ')
      const { content } = paths[path][method].requestBody
      assert.deepEqual(content['application/json'].example, example, name)
    }
  })
})
