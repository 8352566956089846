/** POST /token: password grant, and refresh tokens issued by GoTrue. */
import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { suite, test } from 'node:test'

import { updateUser } from '../../../db/users/update-user.ts'
import { decodeRefreshToken, encodeRefreshToken } from '../../../modules/sessions/refresh-token.ts'
import { cleanupFromConfig } from '../../../plugins/background/cleanup/index.ts'
import { foreignSession, legacySession } from '../../support/legacy-session.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { getUser, refresh, statusAndCode } from '../../support/requests.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, signUpUser } from '../../support/users.ts'

const weeksAgo = (weeks: number) => new Date(Date.now() - weeks * 7 * 86_400_000)

suite('POST /token: legacy refresh tokens', () => {
  const serverFor = sharedServers()

  test('exchanges a legacy token for a counter token', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user } = await signUpUser(app)
    const session = await legacySession(app, user.id)
    const token = await session.add()

    const first = await refresh(app, token)

    assert.equal(first.statusCode, 200, first.body)
    assert.equal(first.json().user.id, user.id)
    assert.equal((await getUser(app, first.json())).statusCode, 200)
    const second = await refresh(app, first.json().refresh_token)
    assert.equal(second.statusCode, 200, second.body)
    const third = await refresh(app, second.json().refresh_token)
    assert.equal(third.statusCode, 200, third.body)
    const replayed = await refresh(app, token)
    assert.equal(replayed.json().error_code, 'refresh_token_already_used')
    const ended = await refresh(app, third.json().refresh_token)
    assert.equal(ended.json().error_code, 'refresh_token_not_found')
  })

  for (const seconds of [0, 10, 3600]) {
    test(`returns the successor of a consumed token presented after ${seconds} s`, async (t) => {
      const { app } = await serverFor(autoconfirm)
      const { user } = await signUpUser(app)
      const now = Math.ceil(Date.now() / 1000) * 1000
      t.mock.timers.enable({ apis: ['Date'], now })
      const session = await legacySession(app, user.id, new Date(now - 3_600_000))
      const token = await session.add()
      const child = (await refresh(app, token)).json().refresh_token

      t.mock.timers.setTime(now + seconds * 1000)
      const response = await refresh(app, token)

      assert.equal(response.json().refresh_token, child)
      assert.equal((await refresh(app, child)).statusCode, 200)
    })
  }

  for (const [what, isUsed] of [
    ['returns its successor again', false],
    ['rejects it as reuse when the successor was used', true],
  ] as const) {
    test(`consumed token after a cleanup: ${what}`, async () => {
      const { app } = await serverFor(autoconfirm)
      const { user } = await signUpUser(app)
      const session = await legacySession(app, user.id)
      const ancestor = await session.add({ revoked: true, updatedAt: weeksAgo(2) })
      const token = await session.add({ parent: ancestor })
      let next = (await refresh(app, token)).json().refresh_token
      if (isUsed) next = (await refresh(app, next)).json().refresh_token
      await app.db
        .updateTable('refresh_tokens')
        .set({ updated_at: weeksAgo(1) })
        .where('token', '=', token)
        .execute()
      const { refresh_tokens } = await cleanupFromConfig(app).run(new Date())
      assert.equal(refresh_tokens, 1)

      const { error_code, refresh_token } = (await refresh(app, token)).json()

      if (isUsed) assert.equal(error_code, 'refresh_token_already_used')
      else assert.equal(refresh_token, next)
      assert.equal((await refresh(app, next)).statusCode, isUsed ? 400 : 200)
    })
  }

  test('returns the child of a token that GoTrue consumed, without a time limit', async (t) => {
    const { app } = await serverFor(autoconfirm)
    const { user } = await signUpUser(app)
    const now = Math.ceil(Date.now() / 1000) * 1000
    t.mock.timers.enable({ apis: ['Date'], now })
    const session = await legacySession(app, user.id, new Date(now))
    const parent = await session.add({ revoked: true })
    const child = await session.add({ parent })

    assert.equal((await refresh(app, parent)).json().refresh_token, child)
    t.mock.timers.setTime(now + 11_000)
    assert.equal((await refresh(app, parent)).json().refresh_token, child)
    assert.equal((await refresh(app, child)).statusCode, 200)
  })

  test('accepts tokens of 22 characters from before 2025', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user } = await signUpUser(app)
    const session = await legacySession(app, user.id)
    const token = randomBytes(16).toString('base64url')
    await app.db
      .updateTable('refresh_tokens')
      .set({ token })
      .where('token', '=', await session.add())
      .execute()

    assert.equal((await refresh(app, token)).statusCode, 200)
    const unknown = await refresh(app, randomBytes(16).toString('base64url'))
    assert.equal(unknown.json().error_code, 'validation_failed')
  })

  test('rejects an ancestor as reuse immediately', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user } = await signUpUser(app)
    const session = await legacySession(app, user.id)
    const old = new Date(Date.now() - 60_000)
    const ancestor = await session.add({ revoked: true, updatedAt: old })
    const parent = await session.add({ revoked: true, parent: ancestor })
    const child = await session.add({ parent })

    assert.equal((await refresh(app, ancestor)).json().error_code, 'refresh_token_already_used')
    assert.equal((await refresh(app, child)).statusCode, 400)
  })

  test('derives the last use from the token when the session has none', async () => {
    const env = { ...autoconfirm, AUTH_SESSIONS_INACTIVITY_TIMEOUT: '24h' }
    const { app } = await serverFor(env)
    const { user } = await signUpUser(app)
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)
    const session = await legacySession(app, user.id, hoursAgo(48))
    const [unused, used] = [await session.add(), await session.add({ updatedAt: hoursAgo(1) })]
    assert.equal((await refresh(app, unused)).json().error_code, 'session_expired')
    const response = await refresh(app, used)
    assert.equal(response.statusCode, 200, response.body)
  })

  test('rejects an ancestor as reuse when its descendant was exchanged for a counter token', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user } = await signUpUser(app)
    const session = await legacySession(app, user.id)
    // Used before its descendant, also by the clock's milliseconds.
    const ancestor = await session.add({ revoked: true, updatedAt: new Date(Date.now() - 1000) })
    const moved = await refresh(app, await session.add({ parent: ancestor }))
    assert.equal(moved.statusCode, 200, moved.body)

    assert.equal((await refresh(app, ancestor)).json().error_code, 'refresh_token_already_used')
    const ended = await refresh(app, moved.json().refresh_token)
    assert.equal(ended.json().error_code, 'refresh_token_not_found')
  })

  test('rejects tokens of a banned user, a deleted session and unknown tokens', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user } = await signUpUser(app)
    const session = await legacySession(app, user.id)
    const [token, other] = [await session.add(), await session.add()]
    await updateUser(app.db, user.id, { banned_until: new Date(Date.now() + 60_000) }, new Date())
    assert.equal((await refresh(app, token)).json().error_code, 'user_banned')
    await app.db.updateTable('refresh_tokens').set({ session_id: null }).execute()
    assert.equal((await refresh(app, other)).json().error_code, 'session_not_found')
    assert.equal((await refresh(app, 'aaaaaaaaaaaa')).json().error_code, 'refresh_token_not_found')
  })
})

suite('POST /token: counter tokens signed with a GoTrue key', () => {
  const serverFor = sharedServers()

  const sessions: Record<string, (app: App, userId: string) => Promise<string>> = {
    'of GoTrue': async (app, userId) => (await foreignSession(app, userId, 7)).tokenAt(7),
    'with a former legacy token': async (app, userId) => {
      const token = await (await legacySession(app, userId)).add()
      return (await refresh(app, token)).json().refresh_token
    },
  }
  for (const [whose, prepare] of Object.entries(sessions)) {
    test(`repeats the lost response for a session ${whose}`, async (t) => {
      const { app } = await serverFor(autoconfirm)
      const { user } = await signUpUser(app)
      t.mock.timers.enable({ apis: ['Date'], now: Math.ceil(Date.now() / 1000) * 1000 })
      const token = await prepare(app, user.id)
      const lost = (await refresh(app, token)).json().refresh_token
      t.mock.timers.tick(3_600_000)
      assert.equal((await refresh(app, token)).json().refresh_token, lost)
      assert.equal((await refresh(app, lost)).statusCode, 200)
    })
  }

  test('rejects forged tokens without revoking the session', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user, refresh_token } = await signUpUser(app)
    const { sessionId, counter } = decodeRefreshToken(refresh_token) ?? assert.fail()
    const foreign = await foreignSession(app, user.id, 7)
    const key = createSecretKey(randomBytes(32))
    const forged = [
      encodeRefreshToken(sessionId, counter, key),
      encodeRefreshToken(foreign.id, 7, key),
      encodeRefreshToken(foreign.id, 6, key),
      encodeRefreshToken(foreign.id, 1, key),
    ]
    for (const token of forged) {
      assert.deepEqual(statusAndCode(await refresh(app, token)), [400, 'validation_failed'])
    }
    for (const token of [refresh_token, foreign.tokenAt(7)]) {
      assert.equal((await refresh(app, token)).statusCode, 200)
    }
  })

  test('accepts valid tokens and encrypts the stored key on next use', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user } = await signUpUser(app)
    const session = await foreignSession(app, user.id, 7)
    const findKey = async () =>
      (
        await app.db
          .selectFrom('sessions')
          .select('refresh_token_hmac_key')
          .where('id', '=', session.id)
          .executeTakeFirstOrThrow()
      ).refresh_token_hmac_key ?? ''

    assert.equal((await refresh(app, session.tokenAt(8))).json().error_code, 'validation_failed')
    assert.equal((await refresh(app, session.tokenAt(6))).json().refresh_token, session.tokenAt(7))
    assert.equal(app.encryption.isEncrypted(await findKey()), false)
    const next = await refresh(app, session.tokenAt(7))
    assert.equal(next.statusCode, 200, next.body)
    assert.equal(next.json().refresh_token, session.tokenAt(8))
    assert.equal(app.encryption.isEncrypted(await findKey()), true)
    assert.equal((await refresh(app, session.tokenAt(8))).json().refresh_token, session.tokenAt(9))
    assert.equal(
      (await refresh(app, session.tokenAt(6))).json().error_code,
      'refresh_token_already_used',
    )
    assert.equal(
      (await refresh(app, session.tokenAt(9))).json().error_code,
      'refresh_token_not_found',
    )
  })
})
