/** How often the hot paths ask the database: each question is a round trip, and its work. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { autoconfirm, newPerson, password, signedIn, signIn } from '../support/people.ts'
import { getUser, refresh } from '../support/requests.ts'
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
