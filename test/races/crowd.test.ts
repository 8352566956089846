/**
 * Many people at once, each of whom does one thing after another. What they do goes to the database together, and nobody may
 * notice: each meets what they would meet alone.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import type { Session } from '../../schemas/session.ts'
import type { User } from '../../schemas/user.ts'
import { adminCall } from '../support/admin.ts'
import { answerOf, autoconfirm, newPerson, signedIn } from '../support/people.ts'
import { randomOf } from '../support/races/schedule.ts'
import { call, changeUser, getUser, outcomeOf, refresh } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { watchPool } from '../support/statements.ts'

const steps = Number(process.env.TEST_RACE_ROUNDS ?? 25)
const crowd = 16

interface Person {
  id: string
  email: string
  session: Session
  /** Refresh tokens that were exchanged, the latest last. */
  spent: string[]
  number: number
}

type Deed = (app: App, person: Person) => Promise<void>

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
  beHeld,
]

suite('a crowd', () => {
  test('nobody meets what another does', { timeout: 3_600_000 }, async (t) => {
    const { app } = await build(t, { env: autoconfirm })
    const people = await Promise.all(Array.from({ length: crowd }, () => arrive(app)))
    const trips = await watchPool(app.pool, () =>
      Promise.all(people.map((person, seed) => live(app, person, seed))),
    )
    const shared = trips.filter((texts) => texts.includes('set local lock_timeout = 25'))
    t.diagnostic(`${shared.length} of ${trips.length} messages were of several people`)
  })
})

async function live(app: App, person: Person, seed: number): Promise<void> {
  const random = randomOf(seed)
  for (let step = 0; step < steps; step++) {
    const deed = deeds[Math.floor(random() * deeds.length)] ?? look
    try {
      await deed(app, person)
    } catch (error) {
      throw new Error(`person ${seed}, step ${step}, ${deed.name}`, { cause: error })
    }
  }
  await look(app, person)
}

async function arrive(app: App): Promise<Person> {
  const { email, ...session } = await newPerson(app)
  return { id: session.user.id, email, session, spent: [], number: 0 }
}

async function goOn(app: App, person: Person): Promise<void> {
  const { refresh_token } = person.session
  const session = answerOf<Session>(await refresh(app, refresh_token))
  assert.equal(session.user.id, person.id)
  assert.notEqual(session.refresh_token, refresh_token)
  person.spent.push(refresh_token)
  person.session = session
}

async function change(app: App, person: Person): Promise<void> {
  person.number += 1
  const data = { number: person.number }
  assertIs(person, answerOf(await changeUser(app, person.session.access_token, { data })))
}

async function look(app: App, person: Person): Promise<void> {
  assertIs(person, answerOf(await getUser(app, person.session)))
}

/** The answer to the last refresh was lost. */
async function repeat(app: App, person: Person): Promise<void> {
  const last = person.spent.at(-1)
  if (last === undefined) return
  const { refresh_token } = answerOf<Session>(await refresh(app, last))
  assert.equal(refresh_token, person.session.refresh_token)
}

async function steal(app: App, person: Person): Promise<void> {
  const old = person.spent.at(-2)
  if (old === undefined) return
  assert.deepEqual(outcomeOf(await refresh(app, old)), [400, 'refresh_token_already_used'])
  await assertEnded(app, person)
}

async function leave(app: App, person: Person): Promise<void> {
  const { access_token: token } = person.session
  assert.equal((await call(app, '/logout', undefined, { method: 'POST', token })).statusCode, 204)
  await assertEnded(app, person)
}

async function beBanned(app: App, person: Person): Promise<void> {
  const url = `/admin/users/${person.id}`
  await adminCall(app, 'PUT', url, { ban_duration: '1h' })
  const { session } = person
  assert.deepEqual(outcomeOf(await refresh(app, session.refresh_token)), [400, 'user_banned'])
  await adminCall(app, 'PUT', url, { ban_duration: 'none' })
  await comeAgain(app, person)
}

/** Another transaction has their row, for longer than those who are sent together with them wait for it. */
async function beHeld(app: App, person: Person): Promise<void> {
  const client = await app.pool.connect()
  try {
    await client.query('begin')
    await client.query('select from auth.users where id = $1 for update', [person.id])
    const changed = change(app, person)
    await pause(40)
    await client.query('commit')
    await changed
  } finally {
    client.release()
  }
}

async function assertEnded(app: App, person: Person): Promise<void> {
  const { refresh_token } = person.session
  const [status] = outcomeOf(await refresh(app, refresh_token))
  assert.equal(status, 400)
  assert.equal((await getUser(app, person.session)).statusCode, 403)
  await comeAgain(app, person)
}

async function comeAgain(app: App, person: Person): Promise<void> {
  person.session = await signedIn(app, person.email)
  person.spent = []
}

function assertIs({ id, email, number }: Person, user: User): void {
  assert.equal(user.id, id)
  assert.equal(user.email, email)
  assert.equal(user.user_metadata.number ?? 0, number)
}
