/** Which refresh tokens are accepted again, when, and what happens otherwise; the clock is moved, so no test waits. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { listSessions } from '../../modules/sessions/index.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { getUser, refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { autoconfirm, signedIn, signUpUser } from '../support/users.ts'

const used = 'refresh_token_already_used'
const untilUsed = { AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED: 'true' }
const longer = { AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '60' }
const never = { AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '0' }
const noRotation = { AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: 'false' }
const month = 2_592_000

/** Tokens in the order they were issued; the last one is active. */
type Reuse = [
  /** Earlier refreshes, each with the newest token. */
  refreshes: number,
  /** Seconds after the last of them. */
  after: number,
  /** Which token is presented. */
  presents: number,
  /** The returned token, or the error. */
  answer: number | typeof used,
  /** Whether the session and the newest token still work afterwards. */
  staysValid: boolean,
  env?: Record<string, string>,
]

const reuses: Record<string, Reuse> = {
  'returns a child for the active token': [1, 0, 1, 2, true],
  'returns a child for the active token after a month': [1, month, 1, 2, true],
  'returns the active child for the previous token immediately': [1, 0, 0, 1, true],
  'returns the active child for the previous token at the end of the interval': [3, 10, 2, 3, true],
  'revokes the session for the previous token after the interval': [1, 11, 0, used, false],
  'revokes the session for an older token immediately': [2, 0, 0, used, false],
  'revokes the session for an older token after a month': [5, month, 1, used, false],
  'longer interval: returns the active child for the previous token within the interval': [
    1,
    60,
    0,
    1,
    true,
    longer,
  ],
  'longer interval: revokes the session for the previous token after the interval': [
    1,
    61,
    0,
    used,
    false,
    longer,
  ],
  'interval of zero: revokes the session for the previous token after a second': [
    1,
    1,
    0,
    used,
    false,
    never,
  ],
  'until used: returns the active child for the previous token after a month': [
    1,
    month,
    0,
    1,
    true,
    untilUsed,
  ],
  'until used: revokes the session for a token whose child was used': [
    2,
    0,
    0,
    used,
    false,
    untilUsed,
  ],
  'no rotation: rejects the previous token within the interval and keeps the session': [
    1,
    10,
    0,
    used,
    true,
    noRotation,
  ],
  'no rotation: rejects the previous token after the interval and keeps the session': [
    1,
    11,
    0,
    used,
    true,
    noRotation,
  ],
  'no rotation: rejects an older token and keeps the session': [2, 0, 0, used, true, noRotation],
}

suite('refresh token reuse', () => {
  const serverFor = sharedServers()

  for (const [name, row] of Object.entries(reuses)) {
    const [refreshes, after, presents, reply, staysValid, env] = row
    test(name, async (t) => {
      const { app, tokens, session, advance } = await refreshed(t, refreshes, env)
      advance(after)

      const response = await refresh(app, tokens[presents] ?? '')

      if (reply === used) {
        assert.equal(response.statusCode, 400)
        assert.equal(response.json().error_code, used)
        assert.equal(response.json().msg, 'Invalid Refresh Token: Already Used')
      } else {
        assert.equal(response.statusCode, 200, response.body)
        const expected = tokens[reply]
        if (expected) assert.equal(response.json().refresh_token, expected)
        else assert.ok(!tokens.includes(response.json().refresh_token))
        tokens[reply] = response.json().refresh_token
      }
      await assertSessionState(app, session.user.id, tokens.at(-1) ?? '', staysValid)
    })
  }

  test('rejects access tokens of the session and writes an audit log entry', async (t) => {
    const { app, tokens, session, advance } = await refreshed(t, 2)
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

  test('does not revoke other sessions of the user', async (t) => {
    const { app, tokens, session, advance } = await refreshed(t, 2)
    const other = await signedIn(app, session.email)
    advance(1)

    assert.equal((await refresh(app, tokens[0] ?? '')).statusCode, 400)

    assert.equal((await refresh(app, other.refresh_token)).statusCode, 200)
  })

  test('rejects tokens that were never issued: a later one, and those of another key or counter', async (t) => {
    const { app, tokens } = await refreshed(t, 1)
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

  async function refreshed(t: TestContext, refreshes: number, env: Record<string, string> = {}) {
    const { app } = await serverFor({ ...autoconfirm, ...env })
    const session = await signUpUser(app)
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

async function assertSessionState(app: App, userId: string, newest: string, staysValid: boolean) {
  const sessions = await listSessions(app, app.db, userId, new Date())
  assert.equal(sessions.length, staysValid ? 1 : 0)
  const response = await refresh(app, newest)
  assert.equal(response.statusCode, staysValid ? 200 : 400)
  if (!staysValid) assert.equal(response.json().error_code, 'refresh_token_not_found')
}
