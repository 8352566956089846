/**
 * Look-ups share statements, so a request may use another one’s look-up, but never by one from before it
 * arrived. Random requests overlap, and each response must have been possible.
 */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import fc from 'fast-check'

import { asAdmin } from '../support/admin.ts'
import { delayResponses } from '../support/late-responses.ts'
import { Fact, type Span } from '../support/possible-states.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { getUser } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { unnamedStatements } from '../support/statements.ts'
import { autoconfirm, signIn, signUpUser } from '../support/users.ts'

const users = 2
const sessionsEach = 3

const who = fc.nat(users - 1)
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

/** Each starts this many milliseconds after the previous one. */
const gap = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(8) })
const round = fc.array(fc.tuple(operation, gap), { minLength: 4, maxLength: 24 })
/** A response delayed this long is overtaken by logouts, bans and deletions. */
const maxDelayMs = 40

interface Session {
  token: string
  isAlive: Fact<boolean>
}

suite('look-ups during sign-ins, logouts, bans and deletions', () => {
  const serverFor = sharedServers()

  test('return possible results only', { timeout: 1_800_000 }, async (t) => {
    const { app } = await serverFor({ ...autoconfirm, ...unnamedStatements })
    delayResponses(app, 'requested(id)', () => randomInt(maxDelayMs))
    const expected = Number(process.env.TEST_INTERLEAVED_REQUESTS ?? 400)
    let requested = 0
    const property = fc.asyncProperty(
      fc.array(round, { minLength: 6, maxLength: 12 }),
      async (rounds) => {
        if (requested >= expected) return
        const all = await Promise.all(Array.from({ length: users }, () => meet(app)))
        for (const operations of rounds) {
          const running: Promise<void>[] = []
          for (const [next, gapMs] of operations) {
            if (gapMs > 0) await pause(gapMs)
            const user = all[next.who]
            if (user) running.push(user.take(next))
          }
          const results = await Promise.allSettled(running)
          for (const result of results) if (result.status === 'rejected') throw result.reason
          requested += running.length
        }
      },
    )
    await fc.assert(property, { numRuns: expected, endOnFailure: true })
    t.diagnostic(`${requested} requests`)
    assert.ok(requested >= expected)
  })
})

let moment = 0

/** A user with what may be true of them. */
async function meet(app: App) {
  const { user, email, access_token } = await signUpUser(app)
  const exists = new Fact(true)
  const isBanned = new Fact(false)
  const sessions = new Map<number, Session>()
  sessions.set(0, { token: access_token, isAlive: new Fact(true) })
  /** Logouts of several sessions, which may include one being created. */
  const sweeps: Span[] = []
  let banned = { isNow: false, isChanging: false }

  const begin = (): Span => ({ from: ++moment, by: Number.POSITIVE_INFINITY })
  const finish = (span: Span, took: boolean) => {
    if (took) span.by = ++moment
    else span.from = Number.POSITIVE_INFINITY
  }

  /** The responses to requests with a token of this session. */
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
    const response = await getUser(app, { access_token: session.token })
    at.by = ++moment
    expect(response, allowed(session, at, 200))
  }

  async function readRecord() {
    const at = begin()
    const response = await asAdmin(app, 'GET', `/admin/users/${user.id}`)
    at.by = ++moment
    const possible = exists.mayBe(true, at) ? ['200'] : []
    expect(response, exists.mayBe(false, at) ? [...possible, 'user_not_found'] : possible)
    if (response.statusCode !== 200) return
    const shown = Boolean(response.json().banned_until)
    assert.ok(isBanned.mayBe(shown, at), `banned: ${shown}`)
  }

  async function openSession(place: number) {
    const at = begin()
    const response = await signIn(app, { email })
    at.by = ++moment
    const mayWork = exists.mayBe(true, at) && isBanned.mayBe(false, at)
    const mayFail = exists.mayBe(false, at) || isBanned.mayBe(true, at)
    assert.ok(response.statusCode === 200 ? mayWork : mayFail, response.body)
    if (response.statusCode !== 200) return
    const isAlive = new Fact(true)
    for (const sweep of sweeps) if (sweep.by > at.from) isAlive.change(sweep, false, false)
    sessions.set(place, { token: response.json().access_token, isAlive })
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
    const response = await app.inject({ method: 'POST', url: `/logout?scope=${scope}`, headers })
    finish(effect, response.statusCode === 204)
    at.by = ++moment
    expect(response, allowed(session, at, 204))
  }

  async function ban() {
    if (banned.isChanging) return
    const isNow = !banned.isNow
    banned = { isNow, isChanging: true }
    const at = begin()
    isBanned.change(at, isNow)
    const payload = { ban_duration: isNow ? '24h' : 'none' }
    const response = await asAdmin(app, 'PUT', `/admin/users/${user.id}`, payload)
    finish(at, response.statusCode === 200)
    banned.isChanging = false
  }

  async function remove() {
    const at = begin()
    exists.change(at, false)
    for (const { isAlive } of sessions.values()) isAlive.change(at, false)
    sweeps.push(at)
    const response = await asAdmin(app, 'DELETE', `/admin/users/${user.id}`)
    finish(at, response.statusCode === 200)
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

function expect(response: { statusCode: number; body: string }, allowed: string[]) {
  const isError = response.statusCode >= 400
  const given = isError ? JSON.parse(response.body).error_code : String(response.statusCode)
  assert.ok(allowed.includes(given), `${given} is none of ${allowed}`)
}
