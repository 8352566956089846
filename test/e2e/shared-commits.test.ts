/** Concurrent requests are committed together, and each gets the response it would get alone. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { until } from '../support/processes/until.ts'
import { call, changeUser, getUser, refresh, statusAndCode } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { recordTrips } from '../support/statements.ts'
import { autoconfirm, bodyOf200, signUpUser } from '../support/users.ts'

/** Statements prepared on the single connection are sent in one message. */
const oneConnection = { AUTH_DB_MAX_POOL_SIZE: '1' }
const anonymous = {
  ...oneConnection,
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
}
const numbers = Array.from({ length: 8 }, (_, index) => index)

suite('group commit of requests', () => {
  const serverFor = sharedServers()

  const users = (app: App) => Promise.all(numbers.map(() => signUpUser(app)))

  test('metadata changes: each user gets and keeps their own', async () => {
    const { app } = await serverFor({ ...autoconfirm, ...oneConnection })
    const sessions = await users(app)
    const change = () =>
      Promise.all(
        sessions.map(({ access_token }, number) =>
          changeUser(app, access_token, { data: { number } }),
        ),
      )
    await change()
    await together(app, async () => {
      const responses = await change()
      responses.forEach((response, number) => {
        const { id, user_metadata } = bodyOf200<User>(response)
        assert.equal(id, sessions[number]?.user.id)
        assert.equal(user_metadata.number, number)
      })
    })
    for (const [number, session] of sessions.entries()) {
      assert.equal(bodyOf200<User>(await getUser(app, session)).user_metadata.number, number)
    }
    const { rows } = await app.pool.query(
      `select payload ->> 'actor_id' as id from auth.audit_log_entries
        where payload ->> 'action' = 'user_modified' and payload ->> 'actor_id' = any($1)`,
      [sessions.map(({ user }) => user.id)],
    )
    const countChanges = (id: string) => rows.filter((row) => row.id === id).length
    const counts = getUserIds(sessions).map(countChanges)
    assert.ok(
      counts.every((count) => count > 1 && count === counts[0]),
      counts.join(', '),
    )
  })

  test('refreshes: each session continues with its own token', async () => {
    const { app } = await serverFor({ ...autoconfirm, ...oneConnection })
    let sessions: Session[] = await users(app)
    const ids = getUserIds(sessions)
    await together(app, async () => {
      for (let round = 0; round < 3; round++) {
        const responses = await Promise.all(sessions.map((one) => refresh(app, one.refresh_token)))
        sessions = responses.map((response) => bodyOf200<Session>(response))
        assert.deepEqual(getUserIds(sessions), ids)
      }
    })
    for (const session of sessions) {
      assert.equal(bodyOf200<User>(await getUser(app, session)).id, session.user.id)
    }
  })

  test('refreshes of one token return the same next token', async () => {
    const { app } = await serverFor({ ...autoconfirm, ...oneConnection })
    const { refresh_token } = await signUpUser(app)
    const responses = await Promise.all(numbers.map(() => refresh(app, refresh_token)))
    const sessions = responses.map((response) => bodyOf200<Session>(response))
    const following = new Set(sessions.map((session) => session.refresh_token))
    assert.equal(following.size, 1)
    assert.ok(!following.has(refresh_token))
    for (const token of following) bodyOf200(await refresh(app, token))
  })

  test('a rejected refresh does not affect the others', async () => {
    const { app } = await serverFor({
      ...autoconfirm,
      AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '0',
    })
    const [attacker, ...sessions] = await users(app)
    assert.ok(attacker)
    const second: Session = bodyOf200(await refresh(app, attacker.refresh_token))
    bodyOf200(await refresh(app, second.refresh_token))
    const [rejected, ...responses] = await Promise.all(
      [attacker, ...sessions].map((one) => refresh(app, one.refresh_token)),
    )
    assert.ok(rejected)
    assert.deepEqual(statusAndCode(rejected), [400, 'refresh_token_already_used'])
    assert.deepEqual(
      getUserIds(responses.map((response) => bodyOf200<Session>(response))),
      getUserIds(sessions),
    )
  })

  test('anonymous sign-ups create a user each', async () => {
    const { app } = await serverFor(anonymous)
    const signUps = () => Promise.all(numbers.map(() => call(app, '/signup', {})))
    await signUps()
    let sessions: Session[] = []
    await together(app, async () => {
      sessions = (await signUps()).map((response) => bodyOf200<Session>(response))
    })
    assert.equal(new Set(getUserIds(sessions)).size, numbers.length)
    for (const session of sessions) {
      assert.equal(bodyOf200<User>(await getUser(app, session)).id, session.user.id)
    }
  })
})

const getUserIds = (sessions: Pick<Session, 'user'>[]) => sessions.map(({ user }) => user.id)

/** Repeats them until they were committed together: on a slow machine, a round may not be. */
async function together(app: App, send: () => Promise<unknown>): Promise<void> {
  const isShared = (texts: string[]) => texts[0] === 'begin' && texts.length > 4
  await until(async () => (await recordTrips(app, send)).some(isShared), {
    everyMs: 300,
    missing: 'they were never committed together',
  })
}
