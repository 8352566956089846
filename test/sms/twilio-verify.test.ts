/** Codes created and checked by Twilio. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { SmsError } from '../../sms/provider.ts'
import type { VendorResponse } from '../support/vendor-server.ts'
import { basic, build, provider } from './vendors.ts'

suite('twilio_verify', () => {
  const check = (t: TestContext, response: VendorResponse) =>
    provider(t, build.twilio_verify, response)

  test('sends number and code', async (t) => {
    const response = { json: { sid: 'VE1', status: 'approved', valid: true } }
    const { vendor, provider: sms } = await check(t, response)

    assert.equal(await sms.verify?.('15550100200', '482910'), true)

    const [seen] = vendor.seen
    assert.equal(seen?.path, '/v2/Services/VA1/VerificationCheck')
    assert.equal(seen.headers.authorization, basic)
    assert.deepEqual(seen.form, { To: '+15550100200', Code: '482910' })
  })

  const wrong: VendorResponse[] = [
    { json: { status: 'pending', valid: false } },
    { json: { status: 'approved', valid: false } },
    { json: { status: 'canceled', valid: true } },
    { status: 404, json: { code: 20404, message: 'not found' } },
    { status: 429, json: { code: 60202, message: 'Max check attempts reached' } },
  ]
  for (const response of wrong) {
    test(`returns false for ${JSON.stringify(response)}`, async (t) => {
      const { provider: sms } = await check(t, response)
      assert.equal(await sms.verify?.('15550100200', '482910'), false)
    })
  }

  const broken: VendorResponse[] = [
    { status: 500, json: { status: 'approved', valid: true } },
    'drop',
    'hang',
  ]
  for (const response of [...broken, { text: 'approved' }, { json: { status: 'approved' } }]) {
    test(`fails for ${JSON.stringify(response)}`, async (t) => {
      const { provider: sms } = await check(t, response)
      await assert.rejects(async () => sms.verify?.('15550100200', '482910'), SmsError)
    })
  }
})
