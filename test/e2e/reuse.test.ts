/** Which refresh token may come back, when, and what happens otherwise; the clock is moved, nothing sleeps. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { type Reuse, reuses } from '../support/reuse-table.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'
import { autoconfirm, getUser, newPerson, refresh, signIn } from '../support/signed-in.ts'

const used = 'refresh_token_already_used'

suite('refresh token reuse', () => {
  const serverFor = sharedServers()

  for (const [name, row] of Object.entries(reuses)) {
    test(name, async (t) => {
      const { app, tokens, session, advance } = await refreshed(t, row)
      advance(row.after)

      const response = await refresh(app, tokens[row.presents] ?? '')

      if (row.answer === used) {
        assert.equal(response.statusCode, 400)
        assert.equal(response.json().error_code, used)
        assert.equal(response.json().msg, 'Invalid Refresh Token: Already Used')
      } else {
        assert.equal(response.statusCode, 200, response.body)
        const expected = tokens[row.answer]
        if (expected) assert.equal(response.json().refresh_token, expected)
        else assert.ok(!tokens.includes(response.json().refresh_token))
        tokens[row.answer] = response.json().refresh_token
      }
      await checkSurvival(app, session.user.id, tokens.at(-1) ?? '', row.survives)
    })
  }

  test('reuse ends the session for the bearer of an access token, and is written down', async (t) => {
    const { app, tokens, session, advance } = await refreshed(t, { refreshes: 2 })
    advance(1)
    assert.equal((await refresh(app, tokens[0] ?? '')).statusCode, 400)

    const response = await getUser(app, session)

    assert.equal(response.statusCode, 403)
    assert.equal(response.json().error_code, 'session_not_found')
    const entries = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    const mine = entries.filter(({ payload }) => payload.actor_id === session.user.id)
    const revoked = mine.filter(({ payload }) => payload.action === 'token_revoked')
    assert.equal(revoked.length, 1)
    assert.equal(revoked[0]?.payload.traits?.reason, 'refresh token reused')
  })

  test('reuse in one session leaves the person’s other session alone', async (t) => {
    const { app, tokens, session, advance } = await refreshed(t, { refreshes: 2 })
    const other = await signIn(app, session.email)
    advance(1)

    assert.equal((await refresh(app, tokens[0] ?? '')).statusCode, 400)

    assert.equal((await refresh(app, other.refresh_token)).statusCode, 200)
  })

  test('a token that was never given out: of the future, of another key, with another counter', async (t) => {
    const { app, tokens } = await refreshed(t, { refreshes: 1 })
    const bytes = Buffer.from(tokens[0] ?? '', 'base64url')
    const changes = Array.from(bytes.keys(), (index) => {
      const changed = Buffer.from(bytes)
      changed[index] = (changed[index] ?? 0) ^ 1
      return changed.toString('base64url')
    })
    for (const changed of changes) {
      const response = await refresh(app, changed)
      assert.equal(response.statusCode, 400)
      assert.equal(response.json().error_code, 'validation_failed')
    }
    assert.equal((await refresh(app, tokens[1] ?? '')).statusCode, 200)
  })

  async function refreshed(
    t: TestContext,
    { env = {}, refreshes }: Pick<Reuse, 'env' | 'refreshes'>,
  ) {
    const { app } = await serverFor({ ...autoconfirm, ...env })
    const session = await newPerson(app)
    const started = Math.ceil(Date.now() / 1000) * 1000 + 1000
    t.mock.timers.enable({ apis: ['Date'], now: started })
    const tokens = [session.refresh_token]
    for (let i = 0; i < refreshes; i += 1) {
      const response = await refresh(app, tokens[i] ?? '')
      assert.equal(response.statusCode, 200, response.body)
      tokens.push(response.json().refresh_token)
    }
    assert.equal(new Set(tokens).size, refreshes + 1)
    const advance = (seconds: number) => t.mock.timers.setTime(started + seconds * 1000)
    return { app, tokens, session, advance }
  }
})

async function checkSurvival(app: App, userId: string, newest: string, survives: boolean) {
  const sessions = await app.sessions.list(app.db, userId, new Date())
  assert.equal(sessions.length, survives ? 1 : 0)
  const response = await refresh(app, newest)
  assert.equal(response.statusCode, survives ? 200 : 400)
  if (!survives) assert.equal(response.json().error_code, 'refresh_token_not_found')
}
