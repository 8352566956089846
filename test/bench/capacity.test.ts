/** The simulation of bench/capacity.ts against queueing theory. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { buildDay } from '../../bench/capacity/mixed-scenario.ts'
import { plan } from '../../bench/capacity/plan.ts'
import type { Demand, Setup } from '../../bench/capacity/setup.ts'
import { simulate } from '../../bench/capacity/simulation.ts'

const nothing: Demand = { generator: 0, server: 0, hash: 0, postgres: 0, wait: 0 }
const setup: Setup = {
  replicas: 1,
  cores: 2,
  hashSlowdown: 1,
  postgresCores: 1,
  pool: 1000,
  load: { perSecond: 500 },
  seconds: 400,
}

function predict(demand: Partial<Demand>, changes: Partial<Setup> = {}) {
  return simulate([{ ...nothing, ...demand }], { ...setup, ...changes })
}

function assertNear(actual: number, expected: number): void {
  assert.ok(Math.abs(actual / expected - 1) < 0.1, `${actual}, expected about ${expected}`)
}

suite('capacity simulation', () => {
  test('has the response times of M/M/1 for random arrivals at one core', () => {
    const { p50, p99, busy } = predict({ postgres: 1 })
    // Exponential with a mean of 1 / (1 - 0.5) ms.
    assertNear(p50, 2 * Math.log(2))
    assertNear(p99, 2 * Math.log(100))
    assertNear(busy['cores of Postgres'] ?? 0, 0.5)
  })

  test('is limited by the event loop of one server, and by the cores of two', () => {
    const load = { clients: 64 }
    const demand = { server: 1, postgres: 0.1 }
    assertNear(predict(demand, { load, seconds: 20 }).perSecond, 1000)
    assertNear(predict(demand, { load, seconds: 20, replicas: 2 }).perSecond, 2000)
    const shared: Setup = { replicas: 2, cores: 2, hashSlowdown: 1, pool: 1000, load, seconds: 20 }
    assertNear(simulate([{ ...nothing, ...demand }], shared).perSecond, 2000 / 1.1)
  })

  test('is limited by the connections to Postgres while requests wait for the disk', () => {
    const load = { clients: 64 }
    assertNear(predict({ wait: 10 }, { load, pool: 4, seconds: 20 }).perSecond, 400)
  })

  test('does not delay other requests by password hashes', () => {
    const reads = Array.from({ length: 9 }, () => ({ ...nothing, server: 0.2 }))
    const mix = [...reads, { ...nothing, hash: 12 }]
    const { p50 } = simulate(mix, { ...setup, load: { perSecond: 1000 }, seconds: 100 })
    assert.ok(p50 < 3, `${p50} ms`)
  })

  test('slows other work down during password hashes', () => {
    const reads = Array.from({ length: 9 }, () => ({ ...nothing, server: 1 }))
    const mix = [...reads, { ...nothing, hash: 12 }]
    const rate = (hashSlowdown: number) =>
      simulate(mix, { ...setup, hashSlowdown, load: { clients: 16 }, seconds: 20 }).perSecond
    assert.ok(rate(1.5) < 0.9 * rate(1))
  })
})

suite('batches of a simulation', () => {
  const batch = { kind: 'commit' as const, server: 0, postgres: 0 }

  test('share one disk write each and run one after another', () => {
    const load = { clients: 8 }
    const { perSecond, batchSize } = predict({ wait: 4, batch }, { load, seconds: 20 })
    // Half of the clients wait for a commit, and the others for the next one.
    assertNear(perSecond, 1000)
    assertNear(batchSize.commit, 4)
  })

  test('are not delayed by a slow batch', () => {
    const load = { clients: 8 }
    const { p50, batchSize } = predict({ wait: 50, batch }, { load, seconds: 20 })
    assertNear(p50, 50)
    assert.ok(batchSize.commit <= 8)
  })

  test('contain at most sixteen changes', () => {
    const load = { clients: 64 }
    const { batchSize } = predict({ wait: 4, batch }, { load, seconds: 20 })
    assertNear(batchSize.commit, 16)
  })

  test('take one round trip from another region', () => {
    const regions = { count: 2, roundTripMs: 80 }
    const { p50, p99 } = predict({ wait: 1, batch }, { replicas: 2, regions, seconds: 50 })
    assert.ok(p50 < 81 && p99 > 80 && p99 < 90, `${p50} and ${p99} ms`)
  })
})

suite('capacity plan', () => {
  test('keeps every resource at half of its capacity', () => {
    const read = { ...nothing, server: 0.1, postgres: 0.05 }
    const requests = buildDay({
      read,
      refresh: { ...read, server: 0.5 },
      signIn: { ...read, hash: 11 },
    })
    const { replicas, postgresCores } = plan(requests, 10_000, 1)
    // (50 * 0.1 + 8 * 0.5 + 0.1 + 11) / 59 ms on two cores, half busy.
    assert.equal(replicas, Math.ceil((10 * 20.1) / 59))
    assert.equal(postgresCores, 1)
  })

  test('assumes 50 reads, 8 refreshes and one sign-in per user and day', () => {
    const day = buildDay({ read: 'read', refresh: 'refresh', signIn: 'sign-in' })
    assert.deepEqual(
      Object.fromEntries(
        Object.entries(Object.groupBy(day, (one) => one)).map(([name, all]) => [name, all?.length]),
      ),
      { read: 50, refresh: 8, 'sign-in': 1 },
    )
  })
})
