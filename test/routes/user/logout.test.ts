/** POST /logout with three sessions of one user and one of another user. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { getUser, refresh } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { adminToken, autoconfirm, signedIn, signUpUser } from '../../support/users.ts'

/** Who is still signed in after the first device signed out. */
const scopes: Record<string, { query: string; remaining: string[] }> = {
  'revokes all sessions without a scope': { query: '', remaining: ['unrelated'] },
  'revokes all sessions with an empty scope': { query: '?scope=', remaining: ['unrelated'] },
  'revokes all sessions with scope=global': { query: '?scope=global', remaining: ['unrelated'] },
  'revokes only the current session with scope=local': {
    query: '?scope=local',
    remaining: ['second', 'third', 'unrelated'],
  },
  'revokes all other sessions with scope=others': {
    query: '?scope=others',
    remaining: ['first', 'unrelated'],
  },
}

suite('POST /logout', () => {
  const serverFor = sharedServers()

  for (const [name, { query, remaining }] of Object.entries(scopes)) {
    test(name, async () => {
      const { app } = await serverFor(autoconfirm)
      const first = await signUpUser(app)
      const devices = {
        first,
        second: await signedIn(app, first.email),
        third: await signedIn(app, first.email),
        unrelated: await signUpUser(app),
      }

      const response = await logout(app, first, query)

      assert.equal(response.statusCode, 204)
      assert.equal(response.body, '')
      for (const [device, session] of Object.entries(devices)) {
        const remains = remaining.includes(device)
        assert.equal((await getUser(app, session)).statusCode, remains ? 200 : 403, device)
        const refreshed = await refresh(app, session.refresh_token)
        assert.equal(refreshed.statusCode, remains ? 200 : 400, device)
        if (!remains) assert.equal(refreshed.json().error_code, 'refresh_token_not_found')
      }
    })
  }

  for (const query of ['', '?scope=local', '?scope=others']) {
    test(`revokes all sessions with a token without a session: ${query || 'no scope'}`, async () => {
      const { app } = await serverFor(autoconfirm)
      const session = await signUpUser(app)
      const exp = Math.floor(Date.now() / 1000) + 60
      const access_token = await app.jwt.sign({ iss: app.jwt.issuer, sub: session.user.id, exp })
      assert.equal((await logout(app, { ...session, access_token }, query)).statusCode, 204)
      assert.equal((await getUser(app, session)).statusCode, 403)
    })
  }

  test('does not invalidate the signature of access tokens', async () => {
    const { app } = await serverFor(autoconfirm)
    const session = await signUpUser(app)
    await logout(app, session, '')
    assert.equal((await getUser(app, session)).statusCode, 403)
    assert.equal((await app.jwt.verify(session.access_token)).sub, session.user.id)
  })

  test('returns session_not_found for a revoked session', async () => {
    const { app } = await serverFor(autoconfirm)
    const session = await signUpUser(app)
    await logout(app, session, '?scope=local')
    const again = await logout(app, session, '?scope=local')
    assert.equal(again.statusCode, 403)
    assert.equal(again.json().error_code, 'session_not_found')
  })

  test('writes an audit log entry', async () => {
    const { app } = await serverFor(autoconfirm)
    const session = await signUpUser(app)
    await logout(app, session, '')
    const entries = await app.db.selectFrom('audit_log_entries').selectAll().execute()
    const mine = entries.filter(({ payload }) => payload.actor_id === session.user.id)
    assert.equal(mine.filter(({ payload }) => payload.action === 'logout').length, 1)
  })

  test('rejects an admin token', async () => {
    const { app } = await serverFor(autoconfirm)
    const response = await logout(app, { access_token: await adminToken(app) }, '')
    assert.equal(response.statusCode, 403)
    assert.equal(response.json().error_code, 'bad_jwt')
  })
})

function logout(app: App, { access_token }: Pick<Session, 'access_token'>, query: string) {
  const headers = { authorization: `Bearer ${access_token}` }
  return app.inject({ method: 'POST', url: `/logout${query}`, headers })
}
