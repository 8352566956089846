/** Concurrent lookups by id share a statement and nothing else. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'

import { batchLookup } from '../../../../plugins/database/driver/index.ts'

interface Statement {
  ids: readonly string[]
  answer(rows: string[]): void
  fail(error: Error): void
}

/** A lookup for whose statements the test responds. */
function lookUp({ isRowError = () => true }: { isRowError?: () => boolean } = {}) {
  const sent: Statement[] = []
  const find = (ids: readonly string[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>()
    sent.push({ ids, answer: resolve, fail: reject })
    return promise
  }
  const send = batchLookup({
    find,
    getId: (row) => row.slice(0, 1),
    isRowError,
    maxDurationMs: 10_000,
  })
  const idsSent = () => sent.map(({ ids }) => ids.join(''))
  return { send, sent, idsSent }
}

suite('batched lookups', () => {
  test('sends a single lookup immediately', async () => {
    const { send, sent, idsSent } = lookUp()
    const pending = send('a')
    await turn()
    assert.deepEqual(idsSent(), ['a'])
    sent[0]?.answer(['a1'])
    assert.equal(await pending, 'a1')
  })

  test('collects lookups while a statement runs', async () => {
    const { send, sent, idsSent } = lookUp()
    const first = [send('a'), send('b'), send('a')]
    await turn()
    const second = [send('c'), send('a')]
    await turn()
    assert.deepEqual(idsSent(), ['ab'])
    sent[0]?.answer(['b1', 'a1'])
    assert.deepEqual(await Promise.all(first), ['a1', 'b1', 'a1'])
    await turn()
    // Requested after the first statement was sent: the next one returns it.
    assert.deepEqual(idsSent(), ['ab', 'ca'])
    sent[1]?.answer(['a2'])
    assert.deepEqual(await Promise.all(second), [undefined, 'a2'])
  })

  test('limits a statement to 64 ids', async () => {
    const { send, sent } = lookUp()
    const requested = Array.from({ length: 100 }, (_, i) => send(String.fromCodePoint(0x4e00 + i)))
    await turn()
    assert.deepEqual(
      sent.map(({ ids }) => ids.length),
      [64],
    )
    sent[0]?.answer([])
    await requested[0]
    await turn()
    assert.equal(sent[1]?.ids.length, 36)
    sent[1]?.answer([])
    await Promise.all(requested)
  })

  test('does not delay the next batch behind a slow one', async () => {
    const { send, sent, idsSent } = lookUp()
    const slow = send('a')
    await turn()
    const others = send('b')
    while (sent.length < 2) await pause(5)
    assert.deepEqual(idsSent(), ['a', 'b'])
    sent[1]?.answer(['b1'])
    assert.equal(await others, 'b1')
    // Its end does not start a second statement.
    const [third, fourth] = [send('c'), send('d')]
    await turn()
    sent[0]?.answer(['a1'])
    assert.equal(await slow, 'a1')
    await turn()
    assert.deepEqual(idsSent(), ['a', 'b', 'cd'])
    sent[2]?.answer(['c1', 'd1'])
    assert.deepEqual(await Promise.all([third, fourth]), ['c1', 'd1'])
  })

  test('rejects only the requests of an unreadable row', async () => {
    const { send, sent } = lookUp()
    const requested = Promise.allSettled(['a', 'b', 'a'].map(send))
    await turn()
    sent[0]?.fail(new Error('out of range'))
    while (sent.length < 3) await turn()
    sent[1]?.fail(new Error('a out of range'))
    sent[2]?.answer(['b1'])
    const [a, b, again] = await requested
    assert.ok(a?.status === 'rejected' && /a out/.test(String(a.reason)))
    assert.ok(again?.status === 'rejected')
    assert.deepEqual(b, { status: 'fulfilled', value: 'b1' })
  })

  test('rejects all requests of a failed statement and sends the next one', async () => {
    const { send, sent, idsSent } = lookUp({ isRowError: () => false })
    const requested = Promise.allSettled(['a', 'b'].map(send))
    await turn()
    const next = send('c')
    sent[0]?.fail(new Error('Connection terminated'))
    assert.deepEqual(
      (await requested).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    await turn()
    assert.deepEqual(idsSent(), ['ab', 'c'])
    sent[1]?.answer(['c1'])
    assert.equal(await next, 'c1')
  })
})
