/** How long a used assertion is remembered. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { cleanupFromConfig } from '../../../plugins/background/cleanup/index.ts'
import { buildAssertion, buildSamlResponse, signed } from '../../support/saml/idp.ts'
import { addIdp, post, samlOn } from '../../support/saml/server.ts'
import { build } from '../../support/server.ts'

const confirmation = /<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/

/** Adds a second bearer confirmation with another expiry. */
function withSecondConfirmation(assertion: string, notOnOrAfter: Date): string {
  return assertion.replace(confirmation, (first) => {
    const end = ` NotOnOrAfter="${notOnOrAfter.toISOString()}"`
    return first + first.replace(/ NotOnOrAfter="[^"]+"/, end)
  })
}

suite('the memory of used assertions', () => {
  test('lasts as long as the assertion is accepted by any of its confirmations', async (t) => {
    const env = { ...samlOn, AUTH_DB_CLEANUP_RETENTION: '0s' }
    const { app } = await build(t, { env })
    const { idp } = await addIdp(app)
    const now = Date.now()
    const at = (seconds: number) => new Date(now + seconds * 1000)
    // Accepted until 240 seconds from now, by the second confirmation until 80 seconds from now.
    const assertion = buildAssertion({ idp, issuedAt: at(150) })
    const xml = buildSamlResponse(
      { idp },
      signed(withSecondConfirmation(assertion, at(-100)), 'Assertion', idp),
    )
    assert.equal((await post(app, xml)).status, 302)
    await cleanupFromConfig(app).run(at(120))
    const again = await post(app, xml)
    assert.match(String(again.query.error_description), /already used/)
  })
})
