/** Codes that Twilio makes and checks. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { SmsError } from '../../sms/provider.ts'
import type { Answer } from '../support/vendor-server.ts'
import { basic, build, provider } from './vendors.ts'

suite('twilio_verify checks codes itself', () => {
  const check = (t: TestContext, answer: Answer) => provider(t, build.twilio_verify, answer)

  test('asks with number and code', async (t) => {
    const answer = { json: { sid: 'VE1', status: 'approved', valid: true } }
    const { vendor, provider: sms } = await check(t, answer)

    assert.equal(await sms.verify?.('15550100200', '482910'), true)

    const [seen] = vendor.seen
    assert.equal(seen?.path, '/v2/Services/VA1/VerificationCheck')
    assert.equal(seen.headers.authorization, basic)
    assert.deepEqual(seen.form, { To: '+15550100200', Code: '482910' })
  })

  const wrong: Answer[] = [
    { json: { status: 'pending', valid: false } },
    { json: { status: 'approved', valid: false } },
    { json: { status: 'canceled', valid: true } },
    { status: 404, json: { code: 20404, message: 'not found' } },
    { status: 429, json: { code: 60202, message: 'Max check attempts reached' } },
  ]
  for (const answer of wrong) {
    test(`false for ${JSON.stringify(answer)}`, async (t) => {
      const { provider: sms } = await check(t, answer)
      assert.equal(await sms.verify?.('15550100200', '482910'), false)
    })
  }

  const broken: Answer[] = [
    { status: 500, json: { status: 'approved', valid: true } },
    'drop',
    'hang',
  ]
  for (const answer of [...broken, { text: 'approved' }, { json: { status: 'approved' } }]) {
    test(`no verdict from ${JSON.stringify(answer)}`, async (t) => {
      const { provider: sms } = await check(t, answer)
      await assert.rejects(async () => sms.verify?.('15550100200', '482910'), SmsError)
    })
  }
})
