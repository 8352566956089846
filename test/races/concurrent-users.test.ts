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
  exchanged: string[]
  number: number
}

type Action = (app: App, user: TestUser) => Promise<void>

const actions: Action[] = [
  refreshSession,
  refreshSession,
  refreshSession,
  change,
  change,
  readUser,
  repeatLastRefresh,
  reuseOlderToken,
  signOut,
  banAndUnban,
  changeWhileLocked,
]

suite('concurrent users', () => {
  test('get the same responses as a single user', { timeout: 3_600_000 }, async (t) => {
    const { app } = await build(t, { env: autoconfirm })
    const users = await Promise.all(Array.from({ length: userCount }, () => addUser(app)))
    const trips = await watchPool(app.pool, () =>
      Promise.all(users.map((user, seed) => runSteps(app, user, seed))),
    )
    const shared = trips.filter((texts) => texts.includes('set local lock_timeout = 25'))
    t.diagnostic(`${shared.length} of ${trips.length} messages were of several users`)
  })
})

async function runSteps(app: App, user: TestUser, seed: number): Promise<void> {
  const random = seededRandom(seed)
  for (let step = 0; step < steps; step++) {
    const action = actions[Math.floor(random() * actions.length)] ?? readUser
    try {
      await action(app, user)
    } catch (error) {
      throw new Error(`user ${seed}, step ${step}, ${action.name}`, { cause: error })
    }
  }
  await readUser(app, user)
}

async function addUser(app: App): Promise<TestUser> {
  const { email, ...session } = await signUpUser(app)
  return { id: session.user.id, email, session, exchanged: [], number: 0 }
}

async function refreshSession(app: App, user: TestUser): Promise<void> {
  const { refresh_token } = user.session
  const session = bodyOf200<Session>(await refresh(app, refresh_token))
  assert.equal(session.user.id, user.id)
  assert.notEqual(session.refresh_token, refresh_token)
  user.exchanged.push(refresh_token)
  user.session = session
}

async function change(app: App, user: TestUser): Promise<void> {
  user.number += 1
  const data = { number: user.number }
  assertIs(user, bodyOf200(await changeUser(app, user.session.access_token, { data })))
}

async function readUser(app: App, user: TestUser): Promise<void> {
  assertIs(user, bodyOf200(await getUser(app, user.session)))
}

/** The response to the last refresh was lost. */
async function repeatLastRefresh(app: App, user: TestUser): Promise<void> {
  const last = user.exchanged.at(-1)
  if (last === undefined) return
  const { refresh_token } = bodyOf200<Session>(await refresh(app, last))
  assert.equal(refresh_token, user.session.refresh_token)
}

async function reuseOlderToken(app: App, user: TestUser): Promise<void> {
  const old = user.exchanged.at(-2)
  if (old === undefined) return
  assert.deepEqual(statusAndCode(await refresh(app, old)), [400, 'refresh_token_already_used'])
  await assertRevoked(app, user)
}

async function signOut(app: App, user: TestUser): Promise<void> {
  const { access_token: token } = user.session
  assert.equal((await call(app, '/logout', undefined, { method: 'POST', token })).statusCode, 204)
  await assertRevoked(app, user)
}

async function banAndUnban(app: App, user: TestUser): Promise<void> {
  const url = `/admin/users/${user.id}`
  await adminCall(app, 'PUT', url, { ban_duration: '1h' })
  const { session } = user
  assert.deepEqual(statusAndCode(await refresh(app, session.refresh_token)), [400, 'user_banned'])
  await adminCall(app, 'PUT', url, { ban_duration: 'none' })
  await signInAgain(app, user)
}

/** Another transaction locks their row for longer than the batch waits. */
async function changeWhileLocked(app: App, user: TestUser): Promise<void> {
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

async function assertRevoked(app: App, user: TestUser): Promise<void> {
  const { refresh_token } = user.session
  const [status] = statusAndCode(await refresh(app, refresh_token))
  assert.equal(status, 400)
  assert.equal((await getUser(app, user.session)).statusCode, 403)
  await signInAgain(app, user)
}

async function signInAgain(app: App, user: TestUser): Promise<void> {
  user.session = await signedIn(app, user.email)
  user.exchanged = []
}

function assertIs({ id, email, number }: TestUser, user: User): void {
  assert.equal(user.id, id)
  assert.equal(user.email, email)
  assert.equal(user.user_metadata.number ?? 0, number)
}
