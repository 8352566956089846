/**
 * Look-ups share statements, so that a request may be answered by what another one asked for: never by what was found
 * before it came. Random requests overlap as they like, and each answer must be one of those that were possible.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import fc from 'fast-check'

import { asAdmin } from '../support/admin.ts'
import { delayAnswers } from '../support/late-answers.ts'
import { autoconfirm, newPerson, signIn } from '../support/people.ts'
import { Fact, type Span } from '../support/possible-states.ts'
import { getUser } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { sharedServers } from '../support/shared-servers.ts'
import { unnamedStatements } from '../support/statements.ts'

const people = 2
const sessionsEach = 3

const who = fc.nat(people - 1)
const which = fc.nat(sessionsEach - 1)
const scope = fc.constantFrom('local', 'others', 'global')
const operation = fc.oneof(
  { weight: 16, arbitrary: fc.record({ do: fc.constant('look' as const), who, which }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('read record' as const), who }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('sign in' as const), who, which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sign out' as const), who, which, scope }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ban' as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), who }) },
)
type Operation = typeof operation extends fc.Arbitrary<infer O> ? O : never

/** Each begins so many milliseconds after the one before. */
const gap = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(8) })
const round = fc.array(fc.tuple(operation, gap), { minLength: 4, maxLength: 24 })
/** An answer on its way for so long is overtaken by the sign-outs, bans and deletions that it knows nothing of. */
const longestDelayMs = 40

interface Session {
  token: string
  isAlive: Fact<boolean>
}

suite('look-ups beside sign-ins, sign-outs, bans and deletions', () => {
  const serverFor = sharedServers()

  test('answer what was possible', { timeout: 1_800_000 }, async (t) => {
    const { app } = await serverFor({ ...autoconfirm, ...unnamedStatements })
    delayAnswers(app, 'wanted(id)', () => randomInt(longestDelayMs))
    const wanted = Number(process.env.TEST_INTERLEAVED_REQUESTS ?? 400)
    let asked = 0
    const property = fc.asyncProperty(
      fc.array(round, { minLength: 6, maxLength: 12 }),
      async (rounds) => {
        if (asked >= wanted) return
        const all = await Promise.all(Array.from({ length: people }, () => meet(app)))
        for (const operations of rounds) {
          const running: Promise<void>[] = []
          for (const [next, gapMs] of operations) {
            if (gapMs > 0) await pause(gapMs)
            const person = all[next.who]
            if (person) running.push(person.take(next))
          }
          const results = await Promise.allSettled(running)
          for (const result of results) if (result.status === 'rejected') throw result.reason
          asked += running.length
        }
      },
    )
    await fc.assert(property, { numRuns: wanted, endOnFailure: true })
    t.diagnostic(`${asked} requests`)
    assert.ok(asked >= wanted)
  })
})

let moment = 0

/** Somebody with what may be true of them. */
async function meet(app: App) {
  const { user, email, access_token } = await newPerson(app)
  const exists = new Fact(true)
  const isBanned = new Fact(false)
  const sessions = new Map<number, Session>()
  sessions.set(0, { token: access_token, isAlive: new Fact(true) })
  /** Sign-outs of several sessions, which may reach one that is being opened. */
  const sweeps: Span[] = []
  let banned = { isNow: false, isChanging: false }

  const begin = (): Span => ({ from: ++moment, by: Number.POSITIVE_INFINITY })
  const finish = (span: Span, took: boolean) => {
    if (took) span.by = ++moment
    else span.from = Number.POSITIVE_INFINITY
  }

  /** The answers of a request with a token of this session. */
  function allowed({ isAlive }: Session, at: Span, success: number): string[] {
    const isThere = isAlive.mayBe(true, at) && exists.mayBe(true, at) && isBanned.mayBe(false, at)
    return [
      ...(isThere ? [String(success)] : []),
      ...(isAlive.mayBe(false, at) ? ['session_not_found'] : []),
      ...(exists.mayBe(false, at) ? ['user_not_found'] : []),
      ...(isBanned.mayBe(true, at) ? ['user_banned'] : []),
    ]
  }

  async function look(session: Session) {
    const at = begin()
    const answer = await getUser(app, { access_token: session.token })
    at.by = ++moment
    expect(answer, allowed(session, at, 200))
  }

  async function readRecord() {
    const at = begin()
    const answer = await asAdmin(app, 'GET', `/admin/users/${user.id}`)
    at.by = ++moment
    const possible = exists.mayBe(true, at) ? ['200'] : []
    expect(answer, exists.mayBe(false, at) ? [...possible, 'user_not_found'] : possible)
    if (answer.statusCode !== 200) return
    const shown = Boolean(answer.json().banned_until)
    assert.ok(isBanned.mayBe(shown, at), `banned: ${shown}`)
  }

  async function openSession(place: number) {
    const at = begin()
    const answer = await signIn(app, { email })
    at.by = ++moment
    const mayWork = exists.mayBe(true, at) && isBanned.mayBe(false, at)
    const mayFail = exists.mayBe(false, at) || isBanned.mayBe(true, at)
    assert.ok(answer.statusCode === 200 ? mayWork : mayFail, answer.body)
    if (answer.statusCode !== 200) return
    const isAlive = new Fact(true)
    for (const sweep of sweeps) if (sweep.by > at.from) isAlive.change(sweep, false, false)
    sessions.set(place, { token: answer.json().access_token, isAlive })
  }

  async function signOut(session: Session, scope: string) {
    const ends = [...sessions.values()].filter(
      (each) => scope === 'global' || (each === session) === (scope === 'local'),
    )
    const at = begin()
    const effect = { ...at }
    for (const { isAlive } of ends) isAlive.change(effect, false)
    if (scope !== 'local') sweeps.push(effect)
    const headers = { authorization: `Bearer ${session.token}` }
    const answer = await app.inject({ method: 'POST', url: `/logout?scope=${scope}`, headers })
    finish(effect, answer.statusCode === 204)
    at.by = ++moment
    expect(answer, allowed(session, at, 204))
  }

  async function ban() {
    if (banned.isChanging) return
    const isNow = !banned.isNow
    banned = { isNow, isChanging: true }
    const at = begin()
    isBanned.change(at, isNow)
    const payload = { ban_duration: isNow ? '24h' : 'none' }
    const answer = await asAdmin(app, 'PUT', `/admin/users/${user.id}`, payload)
    finish(at, answer.statusCode === 200)
    banned.isChanging = false
  }

  async function remove() {
    const at = begin()
    exists.change(at, false)
    for (const { isAlive } of sessions.values()) isAlive.change(at, false)
    sweeps.push(at)
    const answer = await asAdmin(app, 'DELETE', `/admin/users/${user.id}`)
    finish(at, answer.statusCode === 200)
  }

  return {
    async take(next: Operation): Promise<void> {
      if (next.do === 'read record') return readRecord()
      if (next.do === 'sign in') return openSession(next.which)
      if (next.do === 'ban') return ban()
      if (next.do === 'delete') return remove()
      const session = sessions.get(next.which)
      if (!session) return
      return next.do === 'look' ? look(session) : signOut(session, next.scope)
    },
  }
}

function expect(answer: { statusCode: number; body: string }, allowed: string[]) {
  const isError = answer.statusCode >= 400
  const given = isError ? JSON.parse(answer.body).error_code : String(answer.statusCode)
  assert.ok(allowed.includes(given), `${given} is none of ${allowed}`)
}
