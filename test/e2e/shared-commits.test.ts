/** Requests that come at once are committed together, and each is answered as if it had come alone. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { answerOf, autoconfirm, newPerson } from '../support/people.ts'
import { call, changeUser, getUser, outcomeOf, refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'
import { tripsOf } from '../support/statements.ts'
import { until } from '../support/until.ts'

/** What its one connection has run before goes out in one message. */
const oneConnection = { AUTH_DB_MAX_POOL_SIZE: '1' }
const anonymous = {
  ...oneConnection,
  AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'true',
}
const numbers = Array.from({ length: 8 }, (_, index) => index)

suite('requests that come at once', () => {
  const serverFor = sharedServers()

  const people = (app: App) => Promise.all(numbers.map(() => newPerson(app)))

  test('changes of metadata: each person has their own, in the answer and from then on', async () => {
    const { app } = await serverFor({ ...autoconfirm, ...oneConnection })
    const sessions = await people(app)
    const change = () =>
      Promise.all(
        sessions.map(({ access_token }, number) =>
          changeUser(app, access_token, { data: { number } }),
        ),
      )
    await change()
    await together(app, async () => {
      const answers = await change()
      answers.forEach((answer, number) => {
        const { id, user_metadata } = answerOf<User>(answer)
        assert.equal(id, sessions[number]?.user.id)
        assert.equal(user_metadata.number, number)
      })
    })
    for (const [number, session] of sessions.entries()) {
      assert.equal(answerOf<User>(await getUser(app, session)).user_metadata.number, number)
    }
    const { rows } = await app.pool.query(
      `select payload ->> 'actor_id' as id from auth.audit_log_entries
        where payload ->> 'action' = 'user_modified' and payload ->> 'actor_id' = any($1)`,
      [sessions.map(({ user }) => user.id)],
    )
    const changesOf = (id: string) => rows.filter((row) => row.id === id).length
    const counts = idsOf(sessions).map(changesOf)
    assert.ok(
      counts.every((count) => count > 1 && count === counts[0]),
      counts.join(', '),
    )
  })

  test('refreshes: each session goes on by its own token', async () => {
    const { app } = await serverFor({ ...autoconfirm, ...oneConnection })
    let sessions: Session[] = await people(app)
    const ids = idsOf(sessions)
    await together(app, async () => {
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(sessions.map((one) => refresh(app, one.refresh_token)))
        sessions = answers.map((answer) => answerOf<Session>(answer))
        assert.deepEqual(idsOf(sessions), ids)
      }
    })
    for (const session of sessions) {
      assert.equal(answerOf<User>(await getUser(app, session)).id, session.user.id)
    }
  })

  test('refreshes by one token: all get the one that follows, and the session goes on', async () => {
    const { app } = await serverFor({ ...autoconfirm, ...oneConnection })
    const { refresh_token } = await newPerson(app)
    const answers = await Promise.all(numbers.map(() => refresh(app, refresh_token)))
    const sessions = answers.map((answer) => answerOf<Session>(answer))
    const following = new Set(sessions.map((session) => session.refresh_token))
    assert.equal(following.size, 1)
    assert.ok(!following.has(refresh_token))
    for (const token of following) answerOf(await refresh(app, token))
  })

  test('refreshes among which one was refused before: the others are answered', async () => {
    const { app } = await serverFor({
      ...autoconfirm,
      AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: '0',
    })
    const [thief, ...sessions] = await people(app)
    assert.ok(thief)
    const second: Session = answerOf(await refresh(app, thief.refresh_token))
    answerOf(await refresh(app, second.refresh_token))
    const [refused, ...answers] = await Promise.all(
      [thief, ...sessions].map((one) => refresh(app, one.refresh_token)),
    )
    assert.ok(refused)
    assert.deepEqual(outcomeOf(refused), [400, 'refresh_token_already_used'])
    assert.deepEqual(idsOf(answers.map((answer) => answerOf<Session>(answer))), idsOf(sessions))
  })

  test('anonymous sign-ups: each is somebody', async () => {
    const { app } = await serverFor(anonymous)
    const signUps = () => Promise.all(numbers.map(() => call(app, '/signup', {})))
    await signUps()
    let sessions: Session[] = []
    await together(app, async () => {
      sessions = (await signUps()).map((answer) => answerOf<Session>(answer))
    })
    assert.equal(new Set(idsOf(sessions)).size, numbers.length)
    for (const session of sessions) {
      assert.equal(answerOf<User>(await getUser(app, session)).id, session.user.id)
    }
  })
})

const idsOf = (sessions: Pick<Session, 'user'>[]) => sessions.map(({ user }) => user.id)

/** Sends them until they were committed together: where the machine was slow, they are not for a moment. */
async function together(app: App, send: () => Promise<unknown>): Promise<void> {
  const isShared = (texts: string[]) => texts[0] === 'begin' && texts.length > 4
  await until(async () => (await tripsOf(app, send)).some(isShared), {
    everyMs: 300,
    missing: 'they were never committed together',
  })
}
