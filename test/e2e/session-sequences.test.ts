/** Random sequences of requests for several sessions of a user, compared step by step with a model of the rules. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import fc from 'fast-check'

import type { Session } from '../../schemas/session.ts'
import { sharedServers } from '../support/processes/shared-servers.ts'
import { getUser, refresh } from '../support/requests.ts'
import type { App } from '../support/server.ts'
import { autoconfirm, signedIn, signUpUser } from '../support/users.ts'
import { type Rules, SessionModel } from './session-model.ts'

const usual = { reuseInterval: 10, timebox: 36_000, inactivity: 3600 }
const defaultRule: Rules = { ...usual, rotation: true, untilUsed: false }
const rules: Rules[] = [
  defaultRule,
  { ...usual, rotation: true, untilUsed: true },
  { ...usual, rotation: false, untilUsed: false },
]

const which = fc.nat(2)
/** Mostly the newest or the previous token, or each session would be revoked after two steps. */
const age = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 6, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.nat(9) },
)
/** Seconds between two rounds, for every user; the last values are the session limits. */
const seconds = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 12 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 1800 }) },
  { weight: 2, arbitrary: fc.constantFrom(3599, 3600, 36_000) },
)
const scope = fc.constantFrom('local', 'others', 'global')
const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant('refresh' as const), which, age }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('race' as const), which, age }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sign out' as const), which, scope }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sign in' as const), which }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Concurrent sequences, to keep the server busy. */
const lives = 18
const round = fc.record({
  seconds,
  steps: fc.array(step, { minLength: lives, maxLength: lives }),
})

interface Device {
  model: SessionModel
  access_token: string
  tokens: string[]
}

suite('sequences of refresh, replay, races, logouts and time', () => {
  const serverFor = sharedServers()

  test('match the model', { timeout: 600_000 }, async (t) => {
    const clock = start(t)
    for (const rule of rules) await serverFor(toSettings(rule))
    const expected = Number(process.env.TEST_SEQUENCE_STEPS ?? 1000)
    let steps = 0
    const property = fc.asyncProperty(
      fc.array(round, { minLength: 20, maxLength: 60 }),
      async (rounds) => {
        if (steps >= expected) return
        const users = await Promise.all(
          Array.from({ length: lives }, async (_, i) => {
            const rule = rules[i % rules.length] ?? defaultRule
            return startSession((await serverFor(toSettings(rule))).app, rule, clock.now)
          }),
        )
        for (const { seconds, steps: taken } of rounds) {
          if (steps >= expected) break
          clock.wait(seconds)
          await Promise.all(users.map((life, i) => life.live(taken[i], seconds)))
          steps += users.length
        }
        await Promise.all(users.map((life) => life.compare()))
      },
    )
    // A failure is reported by its own sequence; smaller rounds would not explain it better.
    const { failed, errorInstance } = await fc.check(property, {
      numRuns: expected,
      endOnFailure: true,
    })
    assert.ok(!failed, String(errorInstance))
    t.diagnostic(`${steps} steps`)
    assert.ok(steps >= expected)
  })
})

/** One user with one session at first. */
async function startSession(app: App, rule: Rules, now: () => number) {
  const user = await signUpUser(app)
  const open = (session: Session): Device => ({
    model: new SessionModel(rule, now()),
    access_token: session.access_token,
    tokens: [session.refresh_token],
  })
  const devices = [open(user)]
  const lived: unknown[] = []

  /** A failure is reported with all previous steps. */
  async function withSteps(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (cause) {
      throw new Error(`${cause}\nafter ${JSON.stringify({ rule, lived })}`, { cause })
    }
  }

  return {
    live: (next: Step | undefined, waited: number) =>
      withSteps(async () => {
        lived.push(waited, next)
        if (next?.do === 'sign in') devices[next.which] = open(await signedIn(app, user.email))
        else if (next) await take(app, devices, next, now())
      }),
    compare: () => withSteps(() => compare(app, user.user.id, devices)),
  }
}

async function take(
  app: App,
  devices: Device[],
  next: Exclude<Step, { do: 'sign in' }>,
  now: number,
) {
  const device = devices[next.which]
  if (!device) return
  const { model, tokens } = device
  if (next.do === 'look') {
    assert.equal((await getUser(app, device)).statusCode, model.accepts(now) ? 200 : 403)
  } else if (next.do === 'sign out') {
    await signOut(app, devices, { device, scope: next.scope }, now)
  } else {
    const index = Math.max(tokens.length - 1 - next.age, 0)
    const count = next.do === 'race' ? 5 : 1
    await present(app, device, { index, count }, now)
  }
}

/** Presents one token, several times concurrently in a race. */
async function present(
  app: App,
  device: Device,
  { index, count }: { index: number; count: number },
  now: number,
) {
  const { model, tokens } = device
  const reply = model.refresh(tokens.length - 1 - index, now)
  const attempts = Array.from({ length: count }, () => refresh(app, tokens[index] ?? ''))
  const responses = await Promise.all(attempts)
  if ('error' in reply) {
    const errors = responses.map((response) => response.json().error_code)
    assert.ok(errors.includes(reply.error), `${errors} instead of ${reply.error}`)
    // The first request of a race revokes the session; the others find none.
    const possible = [reply.error, 'refresh_token_not_found']
    assert.ok(
      errors.every((error) => possible.includes(error)),
      String(errors),
    )
    return
  }
  const accepted = responses.filter(({ statusCode }) => statusCode === 200)
  const rejected = responses.filter(({ statusCode }) => statusCode !== 200)
  // Without rotation the others of a race are reuse and rejected immediately.
  assert.equal(accepted.length, model.rotates ? count : 1)
  for (const response of rejected) {
    assert.equal(response.json().error_code, 'refresh_token_already_used')
  }
  const given = new Set(accepted.map((response) => response.json().refresh_token))
  assert.equal(given.size, 1, responses.map(({ body }) => body).join('\n'))
  const [token] = given
  if (reply.token === 'current') assert.equal(token, tokens.at(-1))
  else {
    assert.ok(!tokens.includes(token))
    tokens.push(token)
    device.access_token = accepted[0]?.json().access_token
  }
}

async function signOut(
  app: App,
  devices: Device[],
  { device, scope }: { device: Device; scope: string },
  now: number,
) {
  const isAccepted = device.model.accepts(now)
  const headers = { authorization: `Bearer ${device.access_token}` }
  const response = await app.inject({ method: 'POST', url: `/logout?scope=${scope}`, headers })
  assert.equal(response.statusCode, isAccepted ? 204 : 403)
  if (!isAccepted) return
  for (const each of devices) {
    const isRevoked = scope === 'global' || (each === device) === (scope === 'local')
    if (each && isRevoked) each.model.isAlive = false
  }
}

/** Database and model agree. A superseded session is still stored. */
async function compare(app: App, userId: string, devices: Device[]) {
  const rows = await app.db
    .selectFrom('sessions')
    .select('refresh_token_counter')
    .where('user_id', '=', userId)
    .execute()
  const counters = rows.map((row) => row.refresh_token_counter)
  for (const { model } of devices.filter((device) => device?.model.isAlive)) {
    assert.ok(counters.includes(model.counter), `${counters} has no ${model.counter}`)
  }
}

function toSettings({ rotation, untilUsed, reuseInterval, timebox, inactivity }: Rules) {
  return {
    ...autoconfirm,
    AUTH_JWT_EXP: '999999',
    AUTH_SESSIONS_TIMEBOX: String(timebox),
    AUTH_SESSIONS_INACTIVITY_TIMEOUT: String(inactivity),
    AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: String(rotation),
    AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED: String(untilUsed),
    AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: String(reuseInterval),
  }
}

function start(t: TestContext) {
  let now = Math.ceil(Date.now() / 1000)
  t.mock.timers.enable({ apis: ['Date'], now: now * 1000 })
  return {
    now: () => now,
    wait(seconds: number): void {
      now += seconds
      t.mock.timers.setTime(now * 1000)
    },
  }
}
