/** The first attempt at a mail, by the process that queued it: when it is made, by whom, and what becomes of the others. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { suite, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

import Fastify from 'fastify'
import pino from 'pino'

import context from '../../../plugins/context.ts'
import {
  createFirstAttempts,
  type FirstAttemptsDeps,
} from '../../../plugins/mailer/outbox/first-attempts.ts'
import { until } from '../../support/until.ts'

const log = pino({ level: 'silent' })

/** A server whose every request queues what its body names, and is answered when `answer` has ended. */
async function start(
  t: TestContext,
  attempt: (id: string, signal: AbortSignal) => Promise<void>,
  deps: Partial<FirstAttemptsDeps> = {},
) {
  const handedOver: string[][] = []
  const attempts = createFirstAttempts({
    handOver: async (ids) => void handedOver.push([...ids]),
    isQueueUp: () => true,
    log,
    ...deps,
  })
  const taken: boolean[] = []
  const gate = { answer: Promise.resolve() }
  const takes = (id: string) => attempts.takes(id, (signal) => attempt(id, signal))
  const app = Fastify()
  t.after(() => app.close())
  await app.register(context)
  app.get<{ Params: { id: string } }>('/:id', async ({ params }) => {
    taken.push(takes(params.id))
    await gate.answer
    return {}
  })
  const ask = (id: string) => app.inject(`/${id}`)
  return { app, attempts, ask, gate, handedOver, taken, takes }
}

suite('first attempts', () => {
  test('begin when the request is answered, and not before', async (t) => {
    const attempted: string[] = []
    const { ask, gate } = await start(t, async (id) => void attempted.push(id))
    const answer = Promise.withResolvers<void>()
    gate.answer = answer.promise
    const asked = ask('a')
    await turn()
    await turn()
    assert.deepEqual(attempted, [])
    answer.resolve()
    await asked
    await until(() => attempted.length > 0)
    assert.deepEqual(attempted, ['a'])
  })

  test('are made two at a time, and a failing one holds up no other', async (t) => {
    const open = new Map<string, PromiseWithResolvers<void>>()
    const attempt = (id: string) => {
      const end = Promise.withResolvers<void>()
      open.set(id, end)
      return end.promise
    }
    const { ask, attempts } = await start(t, attempt)
    for (const id of ['a', 'b', 'c', 'd']) await ask(id)
    await until(() => open.size === 2)
    await turn()
    assert.deepEqual([...open.keys()], ['a', 'b'])
    open.get('a')?.reject(new Error('the database is lost'))
    await until(() => open.size === 3)
    for (const id of ['b', 'c']) open.get(id)?.resolve()
    await until(() => open.size === 4)
    open.get('d')?.resolve()
    await attempts.stop()
  })

  test('are for requests that can still be answered', async (t) => {
    const { app, takes } = await start(t, async () => {})
    assert.equal(takes('of no request'), false)
    const reached = Promise.withResolvers<void>()
    const late = Promise.withResolvers<boolean>()
    app.get('/slow', async (asked) => {
      reached.resolve()
      await once(asked.raw.socket, 'close')
      await turn()
      late.resolve(takes('late'))
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const hungUp = request(`${url}/slow`)
    hungUp.on('error', () => {})
    hungUp.end()
    await reached.promise
    hungUp.destroy()
    assert.equal(await late.promise, false)
  })

  test('are left to the job queue beyond a hundred, and only while that runs', async (t) => {
    let isUp = true
    const never = new Promise<void>(() => {})
    const { ask, taken } = await start(t, () => never, { isQueueUp: () => isUp })
    for (let n = 0; n < 103; n++) await ask(`${n}`)
    // Two are under way.
    assert.deepEqual([taken.indexOf(false), taken.length], [102, 103])
    isUp = false
    await ask('more')
    assert.equal(taken.at(-1), false)
  })

  test('that wait when the server stops are handed over, and those under way are waited for', async (t) => {
    const end = Promise.withResolvers<void>()
    const attempted: string[] = []
    const { ask, attempts, handedOver, taken } = await start(t, (id) => {
      attempted.push(id)
      return end.promise
    })
    for (const id of ['a', 'b', 'c', 'd']) await ask(id)
    await until(() => attempted.length === 2)
    let isStopped = false
    const stopping = attempts.stop().then(() => {
      isStopped = true
    })
    await ask('e')
    assert.equal(taken.at(-1), false)
    await turn()
    assert.equal(isStopped, false)
    end.resolve()
    await stopping
    assert.deepEqual(attempted, ['a', 'b'])
    assert.deepEqual(handedOver, [['c', 'd']])
  })

  test('are told when stopping takes long', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const told = Promise.withResolvers<void>()
    let isUnderWay = false
    const { ask, attempts } = await start(t, (_id, signal) => {
      isUnderWay = true
      signal.addEventListener('abort', () => told.resolve())
      return told.promise
    })
    await ask('a')
    while (!isUnderWay) await turn()
    const stopping = attempts.stop()
    t.mock.timers.tick(5_000)
    await told.promise
    await stopping
  })
})
