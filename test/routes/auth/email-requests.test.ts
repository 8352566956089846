/** Email requests return the same response for each address, and do the same work. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { pkcePair, waitForIdleQueue } from '../../support/messages/mail-journeys.ts'
import type { Ending } from '../../support/processes/ending.ts'
import { shareServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import { type BuildOptions, build } from '../../support/server.ts'
import { watchTrips } from '../../support/statements.ts'
import { addresses, newAddress } from '../../support/users.ts'

const requests = [
  { path: '/recover', more: {} },
  { path: '/magiclink', more: { data: { a: 1 } } },
  { path: '/otp', more: {} },
  { path: '/otp', more: { create_user: true, ...pkcePair().fields } },
  { path: '/resend', more: { type: 'signup' } },
  { path: '/resend', more: { type: 'email_change' } },
]

/** Has a user of each account state. Its jobs are stopped, so no request changes the state of an account. */
async function prepare(ending: Ending, options: BuildOptions) {
  const server = await build(ending, options)
  const requested: Record<string, string> = {}
  for (const [who, make] of Object.entries(addresses)) requested[who] = await make(server)
  await waitForIdleQueue(server)
  await server.app.jobQueue.stop()
  return { app: server.app, requested }
}

suite('email requests: account enumeration', () => {
  const prepared = shareServers(prepare)
  for (const { path, more } of requests) {
    test(`${path} ${JSON.stringify(more)}: sends the same response and the same statements for each account state`, async () => {
      // The pipeline of its one connection: statements and round trips are the same for each account state.
      const { app, requested } = await prepared({ AUTH_DB_MAX_POOL_SIZE: '1' })
      const send = (email: string) => call(app, path, { email, ...more })
      await send(newAddress())

      const seen = []
      for (const email of Object.values(requested)) {
        const { result: response, trips } = await watchTrips(app, () => send(email))
        const { date: _, 'x-request-id': __, ...headers } = response.headers
        const { message_id = '', ...body } = response.json()
        const isId = /^[0-9a-f-]{36}$/.test(message_id)
        assert.equal(isId, path === '/resend')
        seen.push({ status: response.statusCode, headers, body, work: trips })
      }
      assert.equal(seen[0]?.status, 200)
      assert.ok((seen[0]?.work.flat().length ?? 0) > 3, 'the statements were recorded')
      for (const response of seen) assert.deepEqual(response, seen[0])
    })
  }
})
