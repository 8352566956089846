import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { adminCall, asAdmin } from '../../support/admin.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { adminCreatedUser, newAddress, password } from '../../support/users.ts'

const env = { AUTH_USERNAMES_ENABLED: 'true' }

async function newUser(app: App): Promise<{ id: string; path: string }> {
  const record = { email: newAddress(), password, email_confirm: true }
  const { id } = await adminCreatedUser(app, record)
  return { id, path: `/admin/users/${id}/username` }
}

const signInByName = (app: App, username: string) =>
  call(app, '/token?grant_type=password', { username, password })

/** Its tests share a server, so each has names of its own. */
suite('username of a user', () => {
  const server = sharedServers()

  test('is set by an admin at any time, also to a reserved word', async () => {
    const { app } = await server(env)
    const { path } = await newUser(app)
    for (const username of ['clara', 'support']) {
      await adminCall(app, 'PUT', path, { username })
      assert.equal((await signInByName(app, username)).statusCode, 200)
      assert.deepEqual(await adminCall(app, 'GET', path), { username })
    }
  })

  test('is rejected when another user has or reserved the name', async () => {
    const { app } = await server(env)
    const [ann, bert] = [await newUser(app), await newUser(app)]
    await adminCall(app, 'PUT', ann.path, { username: 'ann' })
    await adminCall(app, 'PUT', ann.path, { username: 'anna' })
    for (const username of ['ann', 'anna']) {
      const response = await asAdmin(app, 'PUT', bert.path, { username })
      assert.deepEqual(statusAndCode(response), [422, 'username_taken'])
    }
  })

  test('is available to other users after an admin removed it', async () => {
    const { app } = await server(env)
    const [ann, bert] = [await newUser(app), await newUser(app)]
    await adminCall(app, 'PUT', ann.path, { username: 'dora' })
    assert.equal((await asAdmin(app, 'DELETE', ann.path)).statusCode, 204)
    assert.deepEqual(statusAndCode(await signInByName(app, 'dora')), [400, 'invalid_credentials'])
    const { app_metadata } = await adminCall(app, 'GET', `/admin/users/${ann.id}`)
    assert.equal(app_metadata.preferred_username, undefined)
    await adminCall(app, 'PUT', bert.path, { username: 'dora' })
  })

  test('is rejected while usernames are disabled', async () => {
    const { app } = await server()
    const { path } = await newUser(app)
    for (const [method, body] of [['GET'], ['PUT', { username: 'ann' }], ['DELETE']] as const) {
      assert.deepEqual(statusAndCode(await asAdmin(app, method, path, body)), [
        404,
        'feature_disabled',
      ])
    }
  })
})
