/**
 * A GoTrue's OAuth server opened sessions for other people's applications. Their refresh tokens are for that server,
 * which asks the application who it is: here they would open a session like the person's own.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { addTotp, answer, challenge, everyFactor } from '../support/factors.ts'
import { foreignSession, legacySession } from '../support/legacy-session.ts'
import { newPerson } from '../support/people.ts'
import { getUser, refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'

const refused = {
  code: 400,
  error_code: 'invalid_credentials',
  msg: 'Client authentication required for OAuth session',
  error: 'invalid_client',
  error_description: 'Client authentication required for OAuth session',
}

type Person = Awaited<ReturnType<typeof newPerson>>
type Held = (app: App, person: Person) => Promise<{ sessionId: string; token: string }>

/** The forms of the refresh tokens that an application may hold. */
const forms: Record<string, Held> = {
  async 'a row'(app, { user }) {
    const session = await legacySession(app, user.id)
    return { sessionId: session.id, token: await session.add() }
  },
  async 'a counter under a key of GoTrue'(app, { user }) {
    const session = await foreignSession(app, user.id, 3)
    return { sessionId: session.id, token: session.tokenAt(3) }
  },
  async 'a counter under a key of ours'(_app, person) {
    return { sessionId: sessionOf(person), token: person.refresh_token }
  },
}

suite('a session that was opened for an application', () => {
  const serverFor = sharedServers()

  for (const [form, held] of Object.entries(forms)) {
    test(`is not refreshed, and stays as it is, where its token is ${form}`, async () => {
      const { app } = await serverFor(everyFactor)
      const { sessionId, token } = await held(app, await newPerson(app))
      await giveToApplication(app, sessionId)
      for (let time = 0; time < 2; time++) {
        const response = await refresh(app, token)
        assert.equal(response.statusCode, 400)
        assert.deepEqual(response.json(), refused)
      }
      await app.pool.query('update auth.sessions set oauth_client_id = null where id = $1', [
        sessionId,
      ])
      assert.equal((await refresh(app, token)).statusCode, 200, 'nothing was spent or revoked')
    })
  }

  test('gets no tokens by a second factor', async () => {
    const { app } = await serverFor(everyFactor)
    const person = await newPerson(app)
    const factor = await addTotp(app, person)
    const { id: challenge_id } = await challenge(app, person, factor.id)
    await giveToApplication(app, sessionOf(person))
    const response = await answer(app, person, factor.id, { challenge_id, code: factor.code() })
    assert.deepEqual(response.json(), refused)
    assert.equal((await getUser(app, person)).json().factors[0].status, 'unverified')
  })
})

function sessionOf({ access_token }: Person): string {
  const [, claims = ''] = access_token.split('.')
  return JSON.parse(Buffer.from(claims, 'base64url').toString()).session_id
}

async function giveToApplication({ pool }: App, sessionId: string): Promise<void> {
  const id = crypto.randomUUID()
  await pool.query(
    `insert into auth.oauth_clients (id, registration_type, redirect_uris, grant_types, token_endpoint_auth_method,
      client_type) values ($1, 'manual', 'https://app.example/cb', 'authorization_code,refresh_token', 'none', 'public')`,
    [id],
  )
  await pool.query('update auth.sessions set oauth_client_id = $1 where id = $2', [id, sessionId])
}
