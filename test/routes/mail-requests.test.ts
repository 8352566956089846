/** What anybody may ask to be mailed: the same answer for every address, in words, headers and work done. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { idle, pkcePair } from '../support/mail-journeys.ts'
import { addresses, newAddress } from '../support/people.ts'
import { call } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { watchTrips } from '../support/statements.ts'

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
      // What its one connection has run before goes out together: statements and round trips are the same for all.
      const server = await build(t, { env: { AUTH_DB_MAX_POOL_SIZE: '1' } })
      const asked: Record<string, string> = {}
      for (const [who, make] of Object.entries(addresses)) asked[who] = await make(server)
      await idle(server)
      await server.app.jobQueue.stop()
      const ask = (email: string) => call(server.app, path, { email, ...more })
      await ask(newAddress())

      const seen = []
      for (const email of Object.values(asked)) {
        const { result: response, trips } = await watchTrips(server.app, () => ask(email))
        const { date: _, 'x-request-id': __, ...headers } = response.headers
        const { message_id = '', ...body } = response.json()
        const isId = /^[0-9a-f-]{36}$/.test(message_id)
        assert.equal(isId, path === '/resend')
        seen.push({ status: response.statusCode, headers, body, work: trips })
      }
      assert.equal(seen[0]?.status, 200)
      assert.ok((seen[0]?.work.flat().length ?? 0) > 3, 'the statements were recorded')
      for (const answer of seen) assert.deepEqual(answer, seen[0])
    })
  }
})
