import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, changeUser } from '../../support/requests.ts'
import { watchStatements } from '../../support/statements.ts'
import { confirmedUser, newAddress, signIn, signUp } from '../../support/users.ts'

suite('PUT /user: metadata', () => {
  const servers = sharedServers()

  test('merges top-level keys, deletes null keys and keeps nested nulls', async () => {
    const server = await servers()
    const { access_token: token } = await confirmedUser(server)
    await changeUser(server.app, token, { data: { a: 1, b: { c: 1, d: null }, gone: 'x' } })
    const response = await changeUser(server.app, token, {
      data: { b: { e: 2, f: null }, gone: null },
    })
    const { user_metadata } = response.json<User>()
    assert.equal(user_metadata.a, 1)
    assert.deepEqual(user_metadata.b, { e: 2, f: null })
    assert.ok(!('gone' in user_metadata))
    assert.equal(user_metadata.email_verified, true)
    const seen = await call(server.app, '/user', undefined, { token })
    assert.deepEqual(seen.json(), response.json())
  })

  test('sign-up drops null keys, as GoTrue does', async () => {
    const server = await servers()
    const data = { a: null, b: { c: null } }
    for (const email of [newAddress(), (await confirmedUser(server)).user.email]) {
      const { user_metadata } = (await signUp(server.app, { email }, { data })).json<User>()
      assert.ok(!('a' in user_metadata), JSON.stringify(user_metadata))
      assert.deepEqual(user_metadata.b, { c: null })
    }
  })

  test('lets an admin user change app_metadata', async () => {
    const server = await servers()
    const { user } = await confirmedUser(server)
    await server.app.db
      .updateTable('users')
      .set({ role: 'service_role' })
      .where('id', '=', user.id)
      .execute()
    const { access_token: token } = (
      await signIn(server.app, { email: user.email })
    ).json<Session>()
    const response = await changeUser(server.app, token, { app_metadata: { plan: 'gold' } })
    assert.equal(response.json<User>().app_metadata.plan, 'gold')
  })

  test('runs two statements', async () => {
    const server = await servers()
    const { access_token: token } = await confirmedUser(server)
    await changeUser(server.app, token, { data: { warm: true } })
    await waitForIdleQueue(server)
    const change = () => changeUser(server.app, token, { data: { visits: 2 } })
    const statements = await watchStatements(server.app, change)
    assert.equal(statements.length, 2, statements.join('\n'))
  })
})
