/** Somebody who reads the database while a sign-in is under way: what they find there does not open the account. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type ExternalServer, proven } from '../support/external.ts'
import { nextId } from '../support/linking.ts'
import { mailAfter, open } from '../support/mail-journeys.ts'
import { newAddress } from '../support/people.ts'
import { call } from '../support/requests.ts'
import type { Built } from '../support/server.ts'
import { sharedExternalServers } from '../support/shared-servers.ts'

const verifier = 'v'.repeat(43)
/** What clients without SHA-256 send (RFC 7636 §4.2): the verifier itself. */
const plain = { code_challenge: verifier, code_challenge_method: 'plain' }

/** Every value of the flow whose code was issued. */
async function storedOf({ app }: Built): Promise<string[]> {
  const rows = await app.db
    .selectFrom('flow_state')
    .selectAll()
    .where('auth_code_issued_at', 'is not', null)
    .execute()
  assert.equal(rows.length, 1)
  return Object.values(rows[0] ?? {}).filter((value) => typeof value === 'string')
}

function exchange({ app }: Built, auth_code: string, code_verifier: string) {
  return call(app, '/token?grant_type=pkce', { auth_code, code_verifier })
}

type Ask = (server: ExternalServer, email: string) => Promise<string | undefined>

/** From where the code comes. */
const doors: Record<string, Ask> = {
  async 'a provider'(server, email) {
    const { query } = await server.signInWith('github', proven(email, nextId()), { query: plain })
    return query.code
  },
  async 'a mailed link'(server, email) {
    const ask = () => call(server.app, '/otp', { email, ...plain })
    const opened = await open(server.app, await mailAfter(server, email, ask))
    return new URL(String(opened.headers.location)).searchParams.get('code') ?? undefined
  },
}

suite('a code that was issued to a client with a plain challenge', () => {
  const servers = sharedExternalServers()

  for (const [name, door] of Object.entries(doors)) {
    test(`by ${name} is not exchanged by what is stored beside it`, async () => {
      const server = await servers()
      const code = await door(server, newAddress())
      assert.ok(code)
      for (const stored of await storedOf(server)) {
        assert.notEqual((await exchange(server, code, stored)).statusCode, 200, stored)
      }
      assert.equal((await exchange(server, code, verifier)).statusCode, 200)
    })
  }
})
