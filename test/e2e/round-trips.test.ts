/** How often the hot paths ask the database: each question is a round trip, and its work. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { asAdmin } from '../support/admin.ts'
import {
  autoconfirm,
  newAddress,
  newPerson,
  password,
  signedIn,
  signIn,
  signUp,
} from '../support/people.ts'
import { call, changeUser, getUser, refresh } from '../support/requests.ts'
import { sharedServers } from '../support/shared-servers.ts'
import { statementsOf } from '../support/statements.ts'

suite('round trips', () => {
  const serverFor = sharedServers()

  test('a refresh is one statement', async () => {
    const { app } = await serverFor(autoconfirm)
    const { refresh_token } = await newPerson(app)
    const statements = await statementsOf(app, async () => {
      assert.equal((await refresh(app, refresh_token)).statusCode, 200)
    })
    assert.equal(statements.length, 1, statements.join('\n'))
  })

  test('so it is with every limit of sessions set', async () => {
    const { app } = await serverFor({
      ...autoconfirm,
      AUTH_SESSIONS_TIMEBOX: '24h',
      AUTH_SESSIONS_INACTIVITY_TIMEOUT: '1h',
      AUTH_SESSIONS_SINGLE_PER_USER: 'true',
      AUTH_SESSIONS_TAGS: 'web,phone',
    })
    const { refresh_token } = await newPerson(app)
    const statements = await statementsOf(app, () => refresh(app, refresh_token))
    assert.equal(statements.length, 1, statements.join('\n'))
  })

  test('a forged refresh token of the right form costs none', async () => {
    const { app } = await serverFor(autoconfirm)
    const { refresh_token } = await newPerson(app)
    const statements = await statementsOf(app, () => refresh(app, refresh_token.slice(0, -1)))
    assert.deepEqual(statements, [])
  })

  test('GET /user is one statement', async () => {
    const { app } = await serverFor(autoconfirm)
    const session = await newPerson(app)
    const statements = await statementsOf(app, async () => {
      assert.equal((await getUser(app, session)).statusCode, 200)
    })
    assert.equal(statements.length, 1, statements.join('\n'))
  })

  test('signing in is three: the counted guess with the account, its count given back, the new session', async () => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await newPerson(app)
    const statements = await statementsOf(app, () => signedIn(app, email))
    assert.equal(statements.length, 3, statements.join('\n'))
  })

  test('PUT /user with metadata is two: who is asking, and the change with its audit entry', async () => {
    const { app } = await serverFor(autoconfirm)
    const { access_token } = await newPerson(app)
    const statements = await statementsOf(app, async () => {
      const change = { data: { theme: 'dark' } }
      assert.equal((await changeUser(app, access_token, change)).statusCode, 200)
    })
    assert.equal(statements.length, 2, statements.join('\n'))
  })

  test('an anonymous sign-up is one: the person with the session', async () => {
    const { app } = await serverFor({ AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true' })
    const statements = await statementsOf(app, async () => {
      assert.equal((await call(app, '/signup', {})).statusCode, 200)
    })
    assert.equal(statements.length, 1, statements.join('\n'))
  })

  test('a sign-up with a mail is twelve, begin, commit and savepoint included', async () => {
    const { app } = await serverFor({})
    const statements = await statementsOf(app, async () => {
      assert.equal((await signUp(app, { email: newAddress() })).statusCode, 200)
    })
    assert.equal(statements.length, 12, statements.join('\n'))
  })

  test('a sign-up that is confirmed at once is nine', async () => {
    const { app } = await serverFor(autoconfirm)
    const statements = await statementsOf(app, async () => {
      assert.equal((await signUp(app, { email: newAddress() })).statusCode, 200)
    })
    assert.equal(statements.length, 9, statements.join('\n'))
  })

  test('admins ask one for a person, and one for a page of them', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user } = await newPerson(app)
    for (const url of [
      `/admin/users/${user.id}`,
      '/admin/users?per_page=1',
      '/admin/users?limit=1',
    ]) {
      const statements = await statementsOf(app, async () => {
        assert.equal((await asAdmin(app, 'GET', url)).statusCode, 200)
      })
      assert.equal(statements.length, 1, statements.join('\n'))
    }
  })

  test('a wrong password is one, known account or not', async () => {
    const { app } = await serverFor(autoconfirm)
    const { email } = await newPerson(app)
    for (const address of [email, 'nobody@example.com']) {
      const wrong = { email: address, password: `not ${password}` }
      const statements = await statementsOf(app, () => signIn(app, wrong))
      assert.equal(statements.length, 1, statements.join('\n'))
    }
  })
})
