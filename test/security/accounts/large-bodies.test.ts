/** Request bodies of unauthenticated clients: the size is checked before the body is read. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'

import type { User } from '../../../schemas/user.ts'
import { adminBodyLimit, bodyLimit, maxFormFields } from '../../../schemas/values/body-limits.ts'
import { adminCall, asAdmin } from '../../support/admin.ts'
import { listeningPort } from '../../support/processes/listening.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { adminCreatedUser, autoconfirm, newAddress, signUpUser } from '../../support/users.ts'

const passkeys = {
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_WEBAUTHN_RP_ID: 'app.example',
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'The app',
  AUTH_WEBAUTHN_RP_ORIGINS: 'https://app.example',
}

const tooLarge = [413, 'request_entity_too_large']
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const id = '11111111-1111-4111-8111-111111111111'
const createBody = (bytes: number) => ({ data: { text: 'x'.repeat(bytes) } })
const isForAdmins = (path: string) => /^\/(admin|invite)\b/.test(path)
const createFields = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=v`).join('&')

suite('request body limit', () => {
  const servers = sharedServers()

  test('returns 413 on each route except admin routes', async () => {
    const { app } = await servers({ ...autoconfirm, ...passkeys })
    const { access_token: token } = await signUpUser(app)
    const writing = app.openapi.routes.filter(
      ({ method, url, schema }) => method !== 'GET' && schema?.body && !isForAdmins(url),
    )
    assert.ok(writing.length >= 15, `${writing.length} routes`)
    for (const { method, url } of writing) {
      const path = url.replaceAll(/:\w+/g, id)
      const payload = createBody(bodyLimit)
      const headers = { authorization: `Bearer ${token}` }
      const response = await app.inject({ method: method as 'POST', url: path, headers, payload })
      assert.deepEqual(statusAndCode(response), tooLarge, `${method} ${url}`)
      assert.match(response.json().msg, new RegExp(`max ${bodyLimit} bytes`))
    }
  })

  test('rejects by Content-Length before the body arrives', async () => {
    const { app } = await servers(autoconfirm)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect(listeningPort(app.server), '127.0.0.1')
    const head = `POST /signup HTTP/1.1\r\nHost: x\r\nContent-Length: ${bodyLimit + 1}\r\n\r\n`
    socket.write(head)
    assert.match(await text(socket), /^HTTP\/1.1 413 /)
  })

  test('accepts 128 KiB', async () => {
    const { app } = await servers(autoconfirm)
    const payload = '{"email":"nonsense","password":"long enough"}'.padEnd(bodyLimit)
    const response = await app.inject({ method: 'POST', url: '/signup', payload })
    assert.deepEqual(statusAndCode(response), [400, 'validation_failed'])
  })

  test('accepts 1 MiB from an admin', async () => {
    const { app } = await servers({ ...autoconfirm, AUTH_USER_METADATA_MAX_BYTES: '1048576' })
    const { id: user } = await adminCreatedUser(app, { email: newAddress() })
    const url = `/admin/users/${user}`
    const send = (bytes: number) => asAdmin(app, 'PUT', url, { ignored: 'x'.repeat(bytes) })
    assert.equal((await send(900_000)).statusCode, 200)
    const response = await send(adminBodyLimit)
    assert.deepEqual(statusAndCode(response), tooLarge)
    assert.match(response.json().msg, new RegExp(`max ${adminBodyLimit} bytes`))
    assert.equal((await adminCall<User>(app, 'GET', url)).id, user)
  })

  test('does not read a large body before the admin token is verified', async () => {
    const { app } = await servers(autoconfirm)
    const response = await call(app, '/admin/users', createBody(500_000))
    assert.deepEqual(statusAndCode(response), [401, 'no_authorization'])
  })

  for (const url of ['/callback', '/token?grant_type=password', '/signup']) {
    test(`rejects a form with more than ${maxFormFields} fields at ${url}`, async () => {
      const { app } = await servers(autoconfirm)
      const send = (count: number) =>
        app.inject({ method: 'POST', url, headers: form, payload: createFields(count) })
      const response = await send(maxFormFields + 1)
      assert.deepEqual(statusAndCode(response), [400, 'bad_json'])
      assert.match(response.json().msg, new RegExp(`at most ${maxFormFields} fields`))
      const { body } = await send(maxFormFields)
      assert.doesNotMatch(body, /at most/)
    })
  }
})
