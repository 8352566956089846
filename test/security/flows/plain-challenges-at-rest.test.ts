/** Values in the database during a sign-in do not allow to complete it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { type ExternalServer, verifiedProfile } from '../../support/external.ts'
import { nextId } from '../../support/linking.ts'
import { emailAfter, open } from '../../support/messages/mail-journeys.ts'
import { sharedExternalServers } from '../../support/processes/shared-servers.ts'
import { call } from '../../support/requests.ts'
import type { Built } from '../../support/server.ts'
import { newAddress } from '../../support/users.ts'

const verifier = 'v'.repeat(43)
/** The challenge of clients without SHA-256 is the verifier itself (RFC 7636 §4.2). */
const plain = { code_challenge: verifier, code_challenge_method: 'plain' }

/** Each stored value of the flow whose code was issued. */
async function listStored({ app }: Built): Promise<string[]> {
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

type Send = (server: ExternalServer, email: string) => Promise<string | undefined>

/** Sources of the code. */
const sources: Record<string, Send> = {
  async 'a provider'(server, email) {
    const { query } = await server.signInWith('github', verifiedProfile(email, nextId()), {
      query: plain,
    })
    return query.code
  },
  async 'an emailed link'(server, email) {
    const send = () => call(server.app, '/otp', { email, ...plain })
    const opened = await open(server.app, await emailAfter(server, email, send))
    return new URL(String(opened.headers.location)).searchParams.get('code') ?? undefined
  },
}

suite('auth code with a plain challenge', () => {
  const servers = sharedExternalServers()

  for (const [name, source] of Object.entries(sources)) {
    test(`by ${name} is not exchanged by any stored value`, async () => {
      const server = await servers()
      const code = await source(server, newAddress())
      assert.ok(code)
      for (const stored of await listStored(server)) {
        assert.notEqual((await exchange(server, code, stored)).statusCode, 200, stored)
      }
      assert.equal((await exchange(server, code, verifier)).statusCode, 200)
    })
  }
})
