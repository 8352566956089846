/** The first attempt to send an email by the process that queued it, and what is left to the job queue. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { suite, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

import Fastify from 'fastify'
import pino from 'pino'

import {
  createFirstAttempts,
  type FirstAttemptsDeps,
  maxAttempts,
} from '../../../../plugins/messaging/mailer/outbox/first-attempts.ts'
import context from '../../../../plugins/observability/request-context/index.ts'
import { until } from '../../../support/processes/until.ts'

const log = pino({ level: 'silent' })

/** A server whose requests queue the ids of their body and complete when `answer` resolves. */
async function start(
  t: TestContext,
  attempt: (id: string, signal: AbortSignal) => Promise<void>,
  deps: Partial<FirstAttemptsDeps> = {},
) {
  const handedOver: string[][] = []
  const attempts = createFirstAttempts({
    deliver: async (ids) => void handedOver.push([...ids]),
    isQueueRunning: () => true,
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
  const send = (id: string) => app.inject(`/${id}`)
  return { app, attempts, send, gate, handedOver, taken, takes }
}

suite('first delivery attempts', () => {
  test('start after the response', async (t) => {
    const attempted: string[] = []
    const { send, gate } = await start(t, async (id) => void attempted.push(id))
    const response = Promise.withResolvers<void>()
    gate.answer = response.promise
    const requested = send('a')
    await turn()
    await turn()
    assert.deepEqual(attempted, [])
    response.resolve()
    await requested
    await until(() => attempted.length > 0)
    assert.deepEqual(attempted, ['a'])
  })

  test('run four at a time, and a failed one does not block others', async (t) => {
    const open = new Map<string, PromiseWithResolvers<void>>()
    const attempt = (id: string) => {
      const end = Promise.withResolvers<void>()
      open.set(id, end)
      return end.promise
    }
    const { send, attempts } = await start(t, attempt)
    for (const id of 'abcdef') await send(id)
    await until(() => open.size === maxAttempts)
    await turn()
    assert.deepEqual([...open.keys()], [...'abcd'])
    open.get('a')?.reject(new Error('the database is lost'))
    await until(() => open.size === maxAttempts + 1)
    for (const id of 'bcde') open.get(id)?.resolve()
    await until(() => open.size === 6)
    open.get('f')?.resolve()
    await attempts.stop()
  })

  test('are not made outside a request or after the client disconnected', async (t) => {
    const { app, takes } = await start(t, async () => {})
    assert.equal(takes('of no request'), false)
    const reached = Promise.withResolvers<void>()
    const late = Promise.withResolvers<boolean>()
    app.get('/slow', async (requested) => {
      reached.resolve()
      await once(requested.raw.socket, 'close')
      await turn()
      late.resolve(takes('late'))
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const disconnected = request(`${url}/slow`)
    disconnected.on('error', () => {})
    disconnected.end()
    await reached.promise
    disconnected.destroy()
    assert.equal(await late.promise, false)
  })

  test('are left to the job queue above a hundred pending ones', async (t) => {
    let isUp = true
    const never = new Promise<void>(() => {})
    const { send, taken } = await start(t, () => never, { isQueueRunning: () => isUp })
    const count = maxAttempts + 101
    for (let n = 0; n < count; n++) await send(`${n}`)
    assert.deepEqual([taken.indexOf(false), taken.length], [count - 1, count])
    isUp = false
    await send('more')
    assert.equal(taken.at(-1), false)
  })

  test('are left to the job queue at shutdown, except running ones', async (t) => {
    const end = Promise.withResolvers<void>()
    const attempted: string[] = []
    const { send, attempts, handedOver, taken } = await start(t, (id) => {
      attempted.push(id)
      return end.promise
    })
    for (const id of 'abcdef') await send(id)
    await until(() => attempted.length === maxAttempts)
    let isStopped = false
    const stopping = attempts.stop().then(() => {
      isStopped = true
    })
    await send('g')
    assert.equal(taken.at(-1), false)
    await turn()
    assert.equal(isStopped, false)
    end.resolve()
    await stopping
    assert.deepEqual(attempted, [...'abcd'])
    assert.deepEqual(handedOver, [['e', 'f']])
  })

  test('log a warning when the shutdown takes long', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const reported = Promise.withResolvers<void>()
    let isUnderWay = false
    const { send, attempts } = await start(t, (_id, signal) => {
      isUnderWay = true
      signal.addEventListener('abort', () => reported.resolve())
      return reported.promise
    })
    await send('a')
    while (!isUnderWay) await turn()
    const stopping = attempts.stop()
    t.mock.timers.tick(5_000)
    await reported.promise
    await stopping
  })
})
