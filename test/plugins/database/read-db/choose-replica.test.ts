/** Which replica serves a read, with lag that the test decides. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createChooser } from '../../../../plugins/database/read-db/index.ts'
import { createPositions, parsePosition } from '../../../../plugins/database/read-db/replica.ts'
import { findMismatch } from '../../../../plugins/database/read-db/server-state.ts'

function fakeReplicas(...replayedAt: (number | undefined)[]) {
  const clock = { now: 0 }
  const fallbacks: string[] = []
  const replicas = replayedAt.map((at, index) => ({
    index,
    at,
    replayedAt: () => replicas[index]?.at,
  }))
  const chooser = createChooser({
    replicas,
    maxLagMs: 10,
    onFallback: (reason) => fallbacks.push(reason),
    now: () => clock.now,
  })
  return { clock, fallbacks, replicas, ...chooser, chosen: () => chooser.choose()?.index }
}

suite('choice of a read replica', () => {
  test('selects the replicas within the maximum lag in rotation', () => {
    const fake = fakeReplicas(95, 89, 90)
    fake.clock.now = 100
    const chosen = Array.from({ length: 4 }, fake.chosen)
    assert.deepEqual(new Set(chosen), new Set([0, 2]))
    assert.notEqual(chosen[0], chosen[1])
  })

  test('falls back to the primary above the maximum lag and returns to the replica below it', () => {
    const fake = fakeReplicas(100)
    fake.clock.now = 111
    assert.equal(fake.chosen(), undefined)
    const [replica] = fake.replicas
    if (replica) replica.at = 105
    assert.equal(fake.chosen(), 0)
    assert.deepEqual(fake.fallbacks, ['lagging'])
  })

  test('falls back to the primary while no replica is available', () => {
    const fake = fakeReplicas(undefined)
    assert.equal(fake.chosen(), undefined)
    assert.deepEqual(fake.fallbacks, ['unavailable'])
  })

  test('after a write, reads go to the primary until a replica contains it', () => {
    const fake = fakeReplicas(99)
    fake.clock.now = 100
    fake.noteWrite()
    assert.equal(fake.chosen(), undefined)
    assert.deepEqual(fake.fallbacks, ['own_write'])
    const [replica] = fake.replicas
    if (replica) replica.at = 100.5
    assert.equal(fake.chosen(), 0)
  })

  test('counts no fallback without replicas', () => {
    const fake = fakeReplicas()
    assert.equal(fake.chosen(), undefined)
    assert.deepEqual(fake.fallbacks, [])
  })
})

suite('age of a replica', () => {
  test('is the age of the newest recorded position that it has replayed', () => {
    const positions = createPositions()
    positions.record({ at: 1, position: parsePosition('0/FFFFFFFF') })
    positions.record({ at: 2, position: parsePosition('1/0') })
    positions.record({ at: 3, position: parsePosition('1/10') })
    assert.equal(positions.findTime(parsePosition('1/F')), 2)
    assert.equal(positions.findTime(parsePosition('2/0')), 3)
    assert.equal(positions.findTime(parsePosition('0/1')), undefined)
  })

  test('does not grow while the primary is idle', () => {
    const positions = createPositions()
    for (const at of [1, 2, 3]) positions.record({ at, position: 7n })
    assert.equal(positions.findTime(7n), 3)
  })
})

suite('identity of a replica', () => {
  const primary = { isStandby: false, position: '0/1', system: '7', startedAt: '1' }
  const standby = { ...primary, isStandby: true, startedAt: '2' }

  test('accepts a standby of the primary and the primary itself', () => {
    assert.equal(findMismatch(primary, standby), undefined)
    assert.equal(findMismatch(primary, primary), undefined)
  })

  test('rejects another cluster and a promoted standby', () => {
    assert.match(findMismatch(primary, { ...standby, system: '8' }) ?? '', /not a copy/)
    assert.match(findMismatch(primary, { ...standby, isStandby: false }) ?? '', /not a standby/)
  })
})
