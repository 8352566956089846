/** Logged rejections contain no number and no code. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { SmsError } from '../../sms/provider.ts'
import { redacting } from '../../sms/redacting.ts'
import type { VendorResponse } from '../support/vendor-server.ts'
import { build, message, provider, rejectsFor } from './vendors.ts'

suite('error redaction', () => {
  const quotes = [
    "The 'To' number +15550100200 is not valid",
    'number +1 (555) 010-0200 is barred',
    'duplicate text: Your code is 482910',
    'duplicate text: 482-910',
  ]
  for (const quote of quotes) {
    test(`redacts ${JSON.stringify(quote)}`, async (t) => {
      const response: VendorResponse = { status: 400, json: { message: quote } }
      const { provider: sms } = await provider(t, build.twilio, response)
      const error = await redacting(sms)
        .send(message)
        .catch((thrown) => thrown)
      assert.ok(error instanceof SmsError)
      assert.match(error.message, /status 400: .*\[…\]/)
      assert.doesNotMatch(error.message.replace(/\D/g, ''), /15550100200|482910/)
      assert.doesNotMatch(String(error.stack).replace(/[\s().-]/g, ''), /15550100200|482910/)
    })
  }

  test('applies to code checks and returns their result', async (t) => {
    const { provider: sms } = await provider(
      t,
      build.twilio_verify,
      { json: { status: 'approved', valid: true } },
      { status: 400, json: { message: 'Invalid parameter Code: 482910' } },
    )
    const safe = redacting(sms)
    assert.equal(await safe.verify?.('15550100200', '482910'), true)
    await assert.rejects(
      async () => safe.verify?.('15550100200', '482910'),
      rejectsFor('twilio_verify', /Code: \[…\]/),
    )
  })
})
