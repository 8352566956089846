/**
 * `node test/run.ts test/services/webhook-drain.ts`: a backlog of 100,000 events is delivered to one webhook next to a
 * dead one, with constant memory. EVENTS sets the number.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'

import { sql } from 'kysely'

import { lastFirst } from '../support/processes/ending.ts'
import { serve } from '../support/processes/listening.ts'
import { until } from '../support/processes/until.ts'
import { type App, build } from '../support/server.ts'
import { webhookEnv } from '../support/webhooks/webhook-receiver.ts'

const events = Number(process.env.EVENTS ?? 100_000)
const users = 5_000
const mebibyte = 2 ** 20
const maxGrowth = 1.25

test(`delivers ${events} events with constant memory next to a dead webhook`, {
  timeout: 900_000,
}, async (t) => {
  const ending = lastFirst(t)
  let received = 0
  const receiver = createServer((request, response) => {
    request.resume().once('end', () => {
      received += 1
      response.writeHead(204).end()
    })
  })
  const port = await serve(ending, receiver)
  const endpoints = [{ url: `http://127.0.0.1:${port}/` }, { url: 'http://127.0.0.1:1/' }]
  const { app } = await build(ending, { env: webhookEnv(...endpoints) })

  await fill(app)
  const startedAt = performance.now()
  const memory: number[] = []
  await until(
    async () => {
      if ((performance.now() - startedAt) / 5_000 >= memory.length) {
        memory.push(process.memoryUsage.rss() / mebibyte)
        t.diagnostic(`${memory.length * 5} s: ${received}, ${memory.at(-1)?.toFixed(0)} MiB`)
      }
      return received >= events
    },
    { seconds: 800 },
  )
  const seconds = (performance.now() - startedAt) / 1000
  t.diagnostic(`${(events / seconds).toFixed(0)} events a second`)
  const settled = memory.slice(Math.floor(memory.length / 3))
  const growth = Math.max(...settled.slice(-3)) / Math.max(...settled.slice(0, 3))
  assert.ok(growth < maxGrowth, `memory grew to ${growth.toFixed(2)} of what it was`)
})

/** In one statement, for this many users. */
async function fill(app: App): Promise<void> {
  await sql`
    insert into auth.postern_event_inbox (id, type, user_id, data, created_at)
    select gen_random_uuid(), 'user.updated',
      ('00000000-0000-4000-8000-' || lpad((n % ${users}::integer)::text, 12, '0'))::uuid,
      jsonb_build_object('user', jsonb_build_object('email', n || '@example.com',
        'user_metadata', jsonb_build_object('about', repeat('x', 500)))),
      now()
    from generate_series(1, ${events}::integer) n`.execute(app.db)
}
