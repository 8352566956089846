/**
 * GoTrue’s OAuth server creates sessions for OAuth clients. Their refresh tokens need client authentication there, and
 * must not be refreshed here as the user’s own session.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { addTotp, challenge, everyFactor, verifyChallenge } from '../../support/factors/factors.ts'
import { foreignSession, legacySession } from '../../support/legacy-session.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { getUser, refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { signUpUser } from '../../support/users.ts'

const rejected = {
  code: 400,
  error_code: 'invalid_credentials',
  msg: 'Client authentication required for OAuth session',
  error: 'invalid_client',
  error_description: 'Client authentication required for OAuth session',
}

type User = Awaited<ReturnType<typeof signUpUser>>
type RowLock = (app: App, user: User) => Promise<{ sessionId: string; token: string }>

/** Forms of refresh tokens of an OAuth client. */
const forms: Record<string, RowLock> = {
  async 'a legacy token'(app, { user }) {
    const session = await legacySession(app, user.id)
    return { sessionId: session.id, token: await session.add() }
  },
  async 'a counter token with a GoTrue key'(app, { user }) {
    const session = await foreignSession(app, user.id, 3)
    return { sessionId: session.id, token: session.tokenAt(3) }
  },
  async 'a counter token with our key'(_app, user) {
    return { sessionId: getSessionId(user), token: user.refresh_token }
  },
}

suite('session of an OAuth client', () => {
  const serverFor = sharedServers()

  for (const [form, lock] of Object.entries(forms)) {
    test(`is neither refreshed nor revoked by ${form}`, async () => {
      const { app } = await serverFor(everyFactor)
      const { sessionId, token } = await lock(app, await signUpUser(app))
      await assignToClient(app, sessionId)
      for (let time = 0; time < 2; time++) {
        const response = await refresh(app, token)
        assert.equal(response.statusCode, 400)
        assert.deepEqual(response.json(), rejected)
      }
      await unassignClient(app, sessionId)
      assert.equal((await refresh(app, token)).statusCode, 200, 'nothing was consumed or revoked')
    })
  }

  test('cannot be stepped up', async () => {
    const { app } = await serverFor(everyFactor)
    const user = await signUpUser(app)
    const factor = await addTotp(app, user)
    const { id: challenge_id } = await challenge(app, user, factor.id)
    await assignToClient(app, getSessionId(user))
    const response = await verifyChallenge(app, user, factor.id, {
      challenge_id,
      code: factor.code(),
    })
    assert.deepEqual(statusAndCode(response), [403, 'insufficient_scope'])
    await unassignClient(app, getSessionId(user))
    assert.equal((await getUser(app, user)).json().factors[0].status, 'unverified')
  })
})

function getSessionId({ access_token }: User): string {
  const [, claims = ''] = access_token.split('.')
  return JSON.parse(Buffer.from(claims, 'base64url').toString()).session_id
}

async function unassignClient({ pool }: App, sessionId: string): Promise<void> {
  await pool.query('update auth.sessions set oauth_client_id = null where id = $1', [sessionId])
}

async function assignToClient({ pool }: App, sessionId: string): Promise<void> {
  const id = crypto.randomUUID()
  await pool.query(
    `insert into auth.oauth_clients (id, registration_type, redirect_uris, grant_types, token_endpoint_auth_method,
      client_type) values ($1, 'manual', 'https://app.example/cb', 'authorization_code,refresh_token', 'none', 'public')`,
    [id],
  )
  await pool.query('update auth.sessions set oauth_client_id = $1 where id = $2', [id, sessionId])
}
