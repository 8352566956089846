/** Racing requests for one resource: one succeeds, and none causes a server error. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { legacySession } from '../support/legacy-session.ts'
import { codeIn } from '../support/messages/mail-links.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { autoconfirm, signUp, signUpUser } from '../support/users.ts'

suite('racing requests', () => {
  const serverFor = sharedServers()

  test('twelve refreshes of one token return one child and update one row', async () => {
    const { app } = await serverFor(autoconfirm)
    const { refresh_token, user } = await signUpUser(app)

    const responses = await times(12, () => refresh(app, refresh_token))

    assert.deepEqual(
      countBy(responses, ({ statusCode }) => statusCode),
      { 200: 12 },
    )
    assert.equal(new Set(responses.map((each) => each.json().refresh_token)).size, 1)
    assert.equal(await findCounter(app, user.id), 1)
    assert.equal(await countRefreshes(app, user.id), 1)
    assert.equal((await refresh(app, responses[0]?.json().refresh_token)).statusCode, 200)
  })

  test('twelve refreshes of one legacy token return one counter token', async () => {
    const { app } = await serverFor(autoconfirm)
    const { user } = await signUpUser(app)
    const { id, add } = await legacySession(app, user.id)
    const token = await add()

    const responses = await times(12, () => refresh(app, token))

    assert.deepEqual(
      countBy(responses, ({ statusCode }) => statusCode),
      { 200: 12 },
    )
    assert.equal(new Set(responses.map((each) => each.json().refresh_token)).size, 1)
    assert.equal(await countRefreshes(app, user.id), 1)
    const session = await sessionRow(app, id)
    assert.equal(session.refresh_token_counter, 0)
  })

  test('refreshes that race with reuse cause no server error', async () => {
    const { app } = await serverFor(autoconfirm)
    for (let round = 0; round < 5; round += 1) {
      const { refresh_token: first } = await signUpUser(app)
      const second = (await refresh(app, first)).json().refresh_token
      const third = (await refresh(app, second)).json().refresh_token
      const responses = await Promise.all(
        [third, first, third, second, third, first].map((token) => refresh(app, token)),
      )
      const statuses = Object.keys(countBy(responses, ({ statusCode }) => statusCode))
      assert.ok(
        statuses.every((status) => ['200', '400'].includes(status)),
        String(statuses),
      )
      assert.equal((await refresh(app, third)).json().error_code, 'refresh_token_not_found')
    }
  })

  test('twenty sign-ups with one email create one user and one identity', async () => {
    const { app, mail } = await serverFor()
    const email = 'concurrent@example.com'

    const responses = await times(20, () => signUp(app, { email }))

    assert.deepEqual(
      countBy(responses, ({ statusCode }) => statusCode),
      { 200: 20 },
    )
    const users = await app.db.selectFrom('users').select('id').where('email', '=', email).execute()
    assert.equal(users.length, 1)
    assert.equal(new Set(responses.map((each) => each.json().id)).size, 1)
    const identities = await app.db.selectFrom('identities').select('id').execute()
    assert.equal(identities.length, 1)
    await mail.waitFor(email)
  })

  test('twenty autoconfirmed sign-ups with one email create one session', async () => {
    const { app } = await serverFor(autoconfirm)
    const email = 'rush@example.com'

    const responses = await times(20, () => signUp(app, { email }))

    assert.deepEqual(
      countBy(responses, ({ statusCode }) => statusCode),
      { 200: 1, 400: 19 },
    )
    const users = await app.db.selectFrom('users').select('id').where('email', '=', email).execute()
    assert.equal(users.length, 1)
  })

  test('ten verifications of one code create one session', async () => {
    const { app, mail } = await serverFor()
    const email = 'code@example.com'
    await signUp(app, { email })
    const payload = { type: 'signup', email, token: codeIn(await mail.waitFor(email)) }

    const responses = await times(10, () => app.inject({ method: 'POST', url: '/verify', payload }))

    assert.deepEqual(
      countBy(responses, ({ statusCode }) => statusCode),
      { 200: 1, 403: 9 },
    )
    const sessions = await app.db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select('sessions.id')
      .where('users.email', '=', email)
      .execute()
    assert.equal(sessions.length, 1)
  })
})

function times<T>(count: number, act: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, act))
}

function countBy<T>(values: T[], getKey: (value: T) => number): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const value of values) counts[getKey(value)] = (counts[getKey(value)] ?? 0) + 1
  return counts
}

function sessionRow(app: App, id: string) {
  return app.db
    .selectFrom('sessions')
    .select(['refresh_token_counter', 'refresh_token_hmac_key'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

async function findCounter(app: App, userId: string) {
  const { refresh_token_counter } = await app.db
    .selectFrom('sessions')
    .select('refresh_token_counter')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return refresh_token_counter
}

async function countRefreshes(app: App, userId: string): Promise<number> {
  const entries = await app.db.selectFrom('audit_log_entries').select('payload').execute()
  return entries.filter(
    ({ payload }) => payload.actor_id === userId && payload.action === 'token_refreshed',
  ).length
}
