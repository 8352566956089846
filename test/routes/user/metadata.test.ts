import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import type { User } from '../../../schemas/user.ts'
import { idle } from '../../support/mail-journeys.ts'
import { confirmedPerson, newAddress, signIn, signUp } from '../../support/people.ts'
import { call, changeUser } from '../../support/requests.ts'
import { sharedServers } from '../../support/shared-servers.ts'
import { statementsOf } from '../../support/statements.ts'

suite('metadata', () => {
  const servers = sharedServers()

  test('is merged at the top level, null deletes a key, nested null stays', async () => {
    const server = await servers()
    const { access_token: token } = await confirmedPerson(server)
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

  test('of a sign-up has no key that is null, as in GoTrue', async () => {
    const server = await servers()
    const data = { a: null, b: { c: null } }
    for (const email of [newAddress(), (await confirmedPerson(server)).user.email]) {
      const { user_metadata } = (await signUp(server.app, { email }, { data })).json<User>()
      assert.ok(!('a' in user_metadata), JSON.stringify(user_metadata))
      assert.deepEqual(user_metadata.b, { c: null })
    }
  })

  test('of the app can be changed by an admin who is a person', async () => {
    const server = await servers()
    const { user } = await confirmedPerson(server)
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

  test('changes with two statements: who asks, and the change with its record', async () => {
    const server = await servers()
    const { access_token: token } = await confirmedPerson(server)
    await changeUser(server.app, token, { data: { warm: true } })
    await idle(server)
    const change = () => changeUser(server.app, token, { data: { visits: 2 } })
    const statements = await statementsOf(server.app, change)
    assert.equal(statements.length, 2, statements.join('\n'))
  })
})
