/** What anybody may ask to be mailed: the same answer for every address, in words, headers and work done. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { PoolClient } from 'pg'

import { idle, pkcePair } from '../support/mail-journeys.ts'
import { addresses } from '../support/people.ts'
import { call } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'

const requests = [
  { path: '/recover', more: {} },
  { path: '/magiclink', more: { data: { a: 1 } } },
  { path: '/otp', more: {} },
  { path: '/otp', more: { create_user: true, ...pkcePair().fields } },
  { path: '/resend', more: { type: 'signup' } },
  { path: '/resend', more: { type: 'email_change' } },
]

suite('asking for a mail', () => {
  for (const { path, more } of requests) {
    test(`${path} ${JSON.stringify(more)}: one answer and one course of work for all`, async (t) => {
      const server = await build(t)
      const asked: Record<string, string> = {}
      for (const [who, make] of Object.entries(addresses)) asked[who] = await make(server)
      await idle(server)
      await server.app.jobQueue.stop()
      const statements = record(server)

      const seen = []
      for (const email of Object.values(asked)) {
        statements.length = 0
        const response = await call(server.app, path, { email, ...more })
        const { date: _, 'x-request-id': __, ...headers } = response.headers
        const { message_id = '', ...body } = response.json()
        const isId = /^[0-9a-f-]{36}$/.test(message_id)
        assert.equal(isId, path === '/resend')
        seen.push({ status: response.statusCode, headers, body, work: [...statements] })
      }
      assert.equal(seen[0]?.status, 200)
      assert.ok((seen[0]?.work.length ?? 0) > 3, 'the statements were recorded')
      for (const answer of seen) assert.deepEqual(answer, seen[0])
    })
  }
})

/** Every statement that requests make from now on, workers not included. */
function record({ app }: Built): string[] {
  const statements: string[] = []
  const wrapped = new WeakSet<PoolClient>()
  app.pool.on('acquire', (client) => {
    if (wrapped.has(client)) return
    wrapped.add(client)
    const query: (...args: unknown[]) => unknown = client.query.bind(client)
    Object.assign(client, {
      query: (...args: unknown[]) => {
        const [first] = args
        const text = typeof first === 'string' ? first : String(Object(first).text)
        // Read by a clock of its own, on whichever connection is free.
        if (!text.includes('signing_keys')) statements.push(text)
        return query(...args)
      },
    })
  })
  return statements
}
