/** Many concurrent users with sequential requests each: batched statements must not affect each other. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { adminCall } from '../support/admin.ts'
import { seededRandom } from '../support/races/schedule.ts'
import { call, changeUser, getUser, refresh, statusAndCode } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { watchPool } from '../support/statements.ts'
import { autoconfirm, bodyOf200, signedIn, signUpUser } from '../support/users.ts'

const steps = Number(process.env.TEST_RACE_ROUNDS ?? 25)
const userCount = 16

interface TestUser {
  id: string
  email: string
  session: Session
  /** Refresh tokens that were exchanged, the latest last. */
  spent: string[]
  number: number
}

type Deed = (app: App, user: TestUser) => Promise<void>

const deeds: Deed[] = [
  goOn,
  goOn,
  goOn,
  change,
  change,
  look,
  repeat,
  steal,
  leave,
  beBanned,
  beLocked,
]

suite('concurrent users', () => {
  test('get the same responses as a single user', { timeout: 3_600_000 }, async (t) => {
    const { app } = await build(t, { env: autoconfirm })
    const users = await Promise.all(Array.from({ length: userCount }, () => arrive(app)))
    const trips = await watchPool(app.pool, () =>
      Promise.all(users.map((user, seed) => live(app, user, seed))),
    )
    const shared = trips.filter((texts) => texts.includes('set local lock_timeout = 25'))
    t.diagnostic(`${shared.length} of ${trips.length} messages were of several users`)
  })
})

async function live(app: App, user: TestUser, seed: number): Promise<void> {
  const random = seededRandom(seed)
  for (let step = 0; step < steps; step++) {
    const deed = deeds[Math.floor(random() * deeds.length)] ?? look
    try {
      await deed(app, user)
    } catch (error) {
      throw new Error(`user ${seed}, step ${step}, ${deed.name}`, { cause: error })
    }
  }
  await look(app, user)
}

async function arrive(app: App): Promise<TestUser> {
  const { email, ...session } = await signUpUser(app)
  return { id: session.user.id, email, session, spent: [], number: 0 }
}

async function goOn(app: App, user: TestUser): Promise<void> {
  const { refresh_token } = user.session
  const session = bodyOf200<Session>(await refresh(app, refresh_token))
  assert.equal(session.user.id, user.id)
  assert.notEqual(session.refresh_token, refresh_token)
  user.spent.push(refresh_token)
  user.session = session
}

async function change(app: App, user: TestUser): Promise<void> {
  user.number += 1
  const data = { number: user.number }
  assertIs(user, bodyOf200(await changeUser(app, user.session.access_token, { data })))
}

async function look(app: App, user: TestUser): Promise<void> {
  assertIs(user, bodyOf200(await getUser(app, user.session)))
}

/** The response to the last refresh was lost. */
async function repeat(app: App, user: TestUser): Promise<void> {
  const last = user.spent.at(-1)
  if (last === undefined) return
  const { refresh_token } = bodyOf200<Session>(await refresh(app, last))
  assert.equal(refresh_token, user.session.refresh_token)
}

async function steal(app: App, user: TestUser): Promise<void> {
  const old = user.spent.at(-2)
  if (old === undefined) return
  assert.deepEqual(statusAndCode(await refresh(app, old)), [400, 'refresh_token_already_used'])
  await assertEnded(app, user)
}

async function leave(app: App, user: TestUser): Promise<void> {
  const { access_token: token } = user.session
  assert.equal((await call(app, '/logout', undefined, { method: 'POST', token })).statusCode, 204)
  await assertEnded(app, user)
}

async function beBanned(app: App, user: TestUser): Promise<void> {
  const url = `/admin/users/${user.id}`
  await adminCall(app, 'PUT', url, { ban_duration: '1h' })
  const { session } = user
  assert.deepEqual(statusAndCode(await refresh(app, session.refresh_token)), [400, 'user_banned'])
  await adminCall(app, 'PUT', url, { ban_duration: 'none' })
  await comeAgain(app, user)
}

/** Another transaction locks their row for longer than the batch waits. */
async function beLocked(app: App, user: TestUser): Promise<void> {
  const client = await app.pool.connect()
  try {
    await client.query('begin')
    await client.query('select from auth.users where id = $1 for update', [user.id])
    const changed = change(app, user)
    await pause(40)
    await client.query('commit')
    await changed
  } finally {
    client.release()
  }
}

async function assertEnded(app: App, user: TestUser): Promise<void> {
  const { refresh_token } = user.session
  const [status] = statusAndCode(await refresh(app, refresh_token))
  assert.equal(status, 400)
  assert.equal((await getUser(app, user.session)).statusCode, 403)
  await comeAgain(app, user)
}

async function comeAgain(app: App, user: TestUser): Promise<void> {
  user.session = await signedIn(app, user.email)
  user.spent = []
}

function assertIs({ id, email, number }: TestUser, user: User): void {
  assert.equal(user.id, id)
  assert.equal(user.email, email)
  assert.equal(user.user_metadata.number ?? 0, number)
}
