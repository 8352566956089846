/** The examples of the API reference work without a change. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { examples } from '../../../plugins/http/openapi/examples.ts'
import { endingOfSuite } from '../../support/processes/ending.ts'
import { serviceRole } from '../../support/processes/server-process.ts'
import { type App, build } from '../../support/server.ts'

/** These need a user, an email or an authenticator, and are of the correct form all the same. */
const needMore: Record<string, string> = {
  'post /token': 'email_not_confirmed',
  'post /verify': 'otp_expired',
  'put /user': 'no_authorization',
  'post /factors': 'no_authorization',
  'post /factors/{factor_id}/verify': 'no_authorization',
  'post /factors/recovery-codes': 'no_authorization',
  'post /factors/recovery-codes/verify': 'no_authorization',
  'post /factors/recovery_codes/verify': 'no_authorization',
  'patch /passkeys/{passkey_id}': 'no_authorization',
}

interface BodySchema {
  required?: string[]
  properties: Record<string, { enum?: string[] }>
}

suite('OpenAPI document: request examples', () => {
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

  async function send(name: string, payload: object) {
    const [method = '', path = ''] = name.split(' ')
    const query = path === '/token' ? '?grant_type=password' : ''
    const id = '9d3c1f0e-8f0b-4a39-9b1c-3a6d9a7f5e21'
    const isOpen = !path.startsWith('/admin') && path !== '/invite'
    return app.inject({
      method: method.toUpperCase() as 'POST',
      url: path.replace(/\{\w+\}/, id) + query,
      payload,
      ...(!isOpen && { headers: { authorization: `Bearer ${await serviceRole()}` } }),
    })
  }

  for (const [name, payload] of Object.entries(examples)) {
    test(`returns the expected response to the example of ${name}`, async () => {
      const response = await send(name, payload)
      const expected = needMore[name]
      if (expected !== undefined) assert.equal(response.json().error_code, expected)
      else assert.ok(response.statusCode < 300, response.body)
    })
  }

  test('requires the documented fields and rejects unlisted enum values', async () => {
    const { paths } = (await app.inject('/openapi.json')).json()
    let tried = 0
    for (const [name, example] of Object.entries(examples)) {
      if (needMore[name] === 'no_authorization') continue
      const [method = '', path = ''] = name.split(' ')
      const { schema } = paths[path][method].requestBody.content['application/json']
      for (const wrong of wrongBodies(schema, example)) {
        const response = await send(name, wrong)
        const { statusCode } = response
        assert.ok(statusCode >= 400 && statusCode < 500, `${name} ${JSON.stringify(wrong)}`)
        tried += 1
      }
    }
    assert.ok(tried >= 10, `${tried}`)
  })

  test('are contained in the document', async () => {
    const { paths } = (await app.inject('/openapi.json')).json()
    for (const [name, example] of Object.entries(examples)) {
      const [method = '', path = ''] = name.split(' ')
      const { content } = paths[path][method].requestBody
      assert.deepEqual(content['application/json'].example, example, name)
    }
  })
})

/** The example without each required field, and with an unlisted value in each enum field. */
function wrongBodies({ required = [], properties }: BodySchema, example: object): object[] {
  const incomplete = required.map((field) => ({ ...example, [field]: undefined }))
  const listed = Object.keys(example).filter((field) => properties[field]?.enum)
  return [...incomplete, ...listed.map((field) => ({ ...example, [field]: 'no such text' }))]
}
