/** Editors can follow a call from one module into another: definition, hover and references. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'

import { findCall, startLanguageServer } from './language-service.ts'

/** Calls across the border of a module: the caller, the function and the file that defines it. */
const calls: [caller: string, name: string, definition: string][] = [
  ['routes/auth/signup/email.ts', 'signUpByEmail', 'modules/users/sign-up/by-email.ts'],
  ['routes/auth/token/refresh-token.ts', 'refreshSession', 'modules/sessions/refresh.ts'],
  ['modules/identities/accept-invitation.ts', 'verifyEmail', 'modules/users/confirm-email.ts'],
  ['modules/passkeys/challenges.ts', 'requireFreshProof', 'modules/credentials/fresh-proof.ts'],
  ['modules/web3/sign-in.ts', 'createAuditEntry', 'modules/audit/entry.ts'],
]

suite('language service', () => {
  let server: Awaited<ReturnType<typeof startLanguageServer>>
  before(async () => {
    server = await startLanguageServer()
    for (const [caller, , definition] of calls) {
      await server.open(caller)
      await server.open(definition)
    }
  })
  after(() => server.stop())

  for (const [caller, name, definition] of calls) {
    test(`finds the definition and the references of ${name} from ${caller}`, async () => {
      const call = findCall(caller, name)
      const [found] = await server.definitions(call)
      assert.equal(found?.file, definition)
      assert.match(await server.hover(call), new RegExp(`function ${name}\\(`))
      const callers = await server.references(found)
      assert.ok(callers.some(({ file, line }) => file === caller && line === call.line))
    })
  }
})
