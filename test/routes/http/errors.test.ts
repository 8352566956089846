/** Every wrong input, in both versions of the error body, by the tables of test/routes/errors/. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { endingOfSuite } from '../../support/processes/ending.ts'
import { type App, build } from '../../support/server.ts'
import { confirmedUser } from '../../support/users.ts'
import { signUps, verifications } from './errors/accounts.ts'
import type { WrongInput } from './errors/invalid-request.ts'
import { bearers, tokens } from './errors/sessions.ts'
import { transport } from './errors/transport.ts'

const tables = { transport, signUps, verifications, tokens, bearers }
const versions = [undefined, '2024-01-01', '2030-12-31', '2023-12-31', 'soon']

suite('invalid requests', () => {
  const ending = endingOfSuite()
  let app: App
  let accessToken: string
  before(async () => {
    const built = await build(ending)
    app = built.app
    accessToken = (await confirmedUser({ app, mail: built.mail }, 'ann@example.com')).access_token
  })

  for (const [table, inputs] of Object.entries(tables)) {
    for (const [name, input] of Object.entries(inputs)) {
      test(`${table}: ${name}`, async () => {
        for (const version of versions) await check(input, version)
      })
    }
  }

  async function check(input: WrongInput, version: string | undefined) {
    const { url, method = 'POST', headers = {}, body, signedIn } = input
    const [status, errorCode, message] = input.answer
    const response = await app.inject({
      method,
      url,
      headers: {
        ...headers,
        ...(version && { 'x-supabase-api-version': version }),
        ...(signedIn && { authorization: `Bearer ${accessToken}` }),
      },
      ...(body !== undefined && { payload: body }),
    })
    const isNamed = version !== undefined && /^2/.test(version) && version >= '2024'
    assert.equal(response.statusCode, status, response.body)
    assert.equal(response.headers['x-sb-error-code'], undefined)
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(response.headers['x-content-type-options'], 'nosniff')
    assert.equal(response.headers['cache-control'], 'no-store')
    assert.match(String(response.headers['x-request-id']), /^[0-9a-f-]{36}$/)
    assert.equal(response.headers['access-control-allow-origin'], '*')
    assert.equal(response.headers['x-supabase-api-version'], isNamed ? '2024-01-01' : undefined)
    if (status === 405) assert.match(String(response.headers.allow), /GET|POST/)
    if (method === 'HEAD') return
    const { code, error_code, msg, message: named, ...rest } = response.json()
    const reported: string = isNamed ? named : msg
    assert.deepEqual([code, error_code], isNamed ? [errorCode, undefined] : [status, errorCode])
    assert.deepEqual(Object.keys(rest), errorCode === 'weak_password' ? ['weak_password'] : [])
    if (message instanceof RegExp) assert.match(reported, message)
    else if (message !== undefined) assert.equal(reported, message)
    else assert.ok(reported.length > 10)
  }
})
