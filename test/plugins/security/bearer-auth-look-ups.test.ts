/** Concurrent requests share the statements that find their sessions. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import { sharedServers } from '../../support/processes/shared-servers.ts'
import { getUser } from '../../support/requests.ts'
import { watchStatements } from '../../support/statements.ts'
import { autoconfirm, signUpUser } from '../../support/users.ts'

suite('lookups of concurrent requests', () => {
  const serverFor = sharedServers()

  test('share one statement and return each user', async () => {
    const { app } = await serverFor(autoconfirm)
    const users = await Promise.all(Array.from({ length: 8 }, () => signUpUser(app)))
    // Their tokens are cached from then on, because verifying signatures takes time.
    await Promise.all(users.map((user) => getUser(app, user)))
    const statements = await watchStatements(app, async () => {
      const responses = await Promise.all(users.map((user) => getUser(app, user)))
      assert.deepEqual(
        responses.map((response) => response.json().email),
        users.map(({ email }) => email),
      )
    })
    assert.ok(statements.length < users.length / 2, statements.join('\n'))
  })

  test('fail for the user of an unreadable row only', async () => {
    const { app } = await serverFor(autoconfirm)
    const users = await Promise.all(Array.from({ length: 4 }, () => signUpUser(app)))
    await app.db
      .updateTable('mfa_amr_claims')
      .set({ updated_at: sql`'infinity'` })
      .where('session_id', 'in', (eb) =>
        eb
          .selectFrom('sessions')
          .select('id')
          .where('user_id', '=', users[2]?.user.id ?? ''),
      )
      .execute()
    const responses = await Promise.all(users.map((user) => getUser(app, user)))
    assert.deepEqual(
      responses.map(({ statusCode }) => statusCode),
      [200, 200, 500, 200],
    )
  })

  test('do not find a session with another user’s id', async () => {
    const { app } = await serverFor(autoconfirm)
    const [one, other] = [await signUpUser(app), await signUpUser(app)]
    const { session_id } = await app.jwt.verify(one.access_token)
    const claims = await app.jwt.verify(other.access_token)
    const mixed = await app.jwt.sign({ ...claims, session_id: session_id ?? '' })
    const response = await getUser(app, { access_token: mixed })
    assert.equal(response.statusCode, 403)
    assert.equal(response.json().error_code, 'session_not_found')
  })
})
