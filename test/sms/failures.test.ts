/** Providers that reject, return unreadable responses or are unreachable; retries. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createFormClient } from '../../sms/form-client.ts'
import { SmsError } from '../../sms/provider.ts'
import { deadUrl, type VendorResponse, vendorServer } from '../support/vendor-server.ts'
import { accepted, build, fetch, message, names, poster, provider, rejectsFor } from './vendors.ts'

suite('rejections', () => {
  const error = { code: 21211, message: 'Invalid number', more_info: 'https://t.example/21211' }
  const messagebirdFault = { errors: [{ code: 9, description: 'no (correct) recipients found' }] }
  const cases: [keyof typeof build, VendorResponse, RegExp][] = [
    [
      'twilio',
      { status: 400, json: error },
      /status 400: Invalid number https:\/\/t.example\/21211/,
    ],
    ['twilio', { json: { sid: 'SM1', status: 'failed', error_message: 'x' } }, /message failed: x/],
    ['twilio', { json: { sid: 'SM1', status: 'undelivered' } }, /undelivered/],
    ['twilio', { status: 500, json: { sid: 'SM1', status: 'queued' } }, /status 500/],
    ['twilio', { status: 201, json: { status: 'queued' } }, /unreadable/],
    ['twilio_verify', { status: 429, json: error }, /status 429: Invalid number/],
    ['twilio_verify', { status: 200, json: {} }, /unreadable/],
    ['messagebird', { status: 422, json: messagebirdFault }, /no \(correct\) recipients/],
    ['messagebird', { status: 401, json: messagebirdFault }, /status 401/],
    ['messagebird', { json: { id: 'x', recipients: { totalSentCount: 0 } } }, /none/],
    ['messagebird', { status: 500, json: { id: 'x', recipients: { totalSentCount: 1 } } }, /500/],
    [
      'textlocal',
      { json: { status: 'failure', errors: [{ code: 51, message: 'No valid numbers' }] } },
      /error 51: No valid numbers/,
    ],
    ['textlocal', { json: { status: 'success', messages: [] } }, /unreadable/],
    ['textlocal', { json: { status: 'failure', messages: [{ id: '77' }] } }, /unreadable/],
    [
      'vonage',
      { json: { messages: [{ status: '4', 'error-text': 'Bad Credentials' }] } },
      /4: Bad/,
    ],
    ['vonage', { json: { messages: [] } }, /unreadable/],
  ]
  for (const [name, response, detail] of cases) {
    test(`${name}: rejects with ${detail.source}`, async (t) => {
      const { provider: sms } = await provider(t, build[name], response)
      await assert.rejects(sms.send(message), rejectsFor(name, detail))
    })
  }
})

for (const name of names) {
  suite(`${name}: connection failures`, { concurrency: true }, () => {
    const responses: [string, VendorResponse, RegExp][] = [
      ['a response that is not JSON', { text: '<html>482910' }, /unreadable/],
      ['JSON of another type', { json: [1, null] }, /unreadable/],
      ['null', { json: null }, /unreadable/],
      ['silence', 'hang', /TimeoutError/],
      ['a truncated response', 'stall', /TimeoutError/],
      ['a dropped connection', 'drop', /no answer \(UND_ERR_SOCKET\)/],
      ['a redirect', { status: 302, headers: { location: '/x' } }, /no answer/],
    ]
    for (const [what, response, detail] of responses) {
      test(`fails without a retry on ${what}`, async (t) => {
        const { vendor, provider: sms } = await provider(t, build[name], response)
        await assert.rejects(sms.send(message), rejectsFor(name, detail, true))
        assert.equal(vendor.seen.length, 1)
      })
    }

    test('retries an unreachable server and then fails', async () => {
      const sms = build[name](await deadUrl(), poster(30_000))
      await assert.rejects(sms.send(message), rejectsFor(name, /no answer \(ECONNREFUSED\)/, false))
    })
  })
}

suite('retries', () => {
  test('retry when the request never reached the provider', async (t) => {
    const vendor = await vendorServer(t, accepted.vonage)
    const dead = await deadUrl()
    let attempts = 0
    const flaky: typeof fetch = (input, init) => {
      attempts += 1
      return fetch(attempts === 1 ? dead : input, init)
    }
    const post = createFormClient({ fetch: flaky, timeoutMs: 30_000, retryDelayMs: 5 })

    await build.vonage(vendor.url, post).send(message)

    assert.equal(attempts, 2)
    assert.equal(vendor.seen.length, 1)
  })

  const throttled: [keyof typeof build, VendorResponse][] = [
    ['twilio', { status: 429, json: { code: 20429, message: 'Too Many Requests' } }],
    ['vonage', { json: { messages: [{ status: '1', 'error-text': 'Throttled' }] } }],
  ]
  for (const [name, busy] of throttled) {
    test(`${name}: retries once when busy`, async (t) => {
      const { vendor, provider: sms } = await provider(t, build[name], busy, accepted[name])
      await sms.send(message)
      assert.equal(vendor.seen.length, 2)
      assert.deepEqual(vendor.seen[0]?.form, vendor.seen[1]?.form)
    })

    test(`${name}: retries at most once`, async (t) => {
      const { vendor, provider: sms } = await provider(t, build[name], busy)
      await assert.rejects(sms.send(message), SmsError)
      assert.equal(vendor.seen.length, 2)
    })
  }

  test('one deadline covers both attempts', async (t) => {
    const busy: VendorResponse = { status: 429, json: { message: 'busy' } }
    const vendor = await vendorServer(t, busy, 'hang')
    const limits: unknown[] = []
    const watched: typeof fetch = (input, init) => {
      limits.push(init?.signal)
      return fetch(input, init)
    }
    const post = createFormClient({ fetch: watched, timeoutMs: 1000, retryDelayMs: 5 })
    await assert.rejects(
      build.twilio(vendor.url, post).send(message),
      rejectsFor('twilio', /TimeoutError/),
    )
    assert.equal(limits.length, 2)
    assert.ok(limits[0] instanceof AbortSignal)
    assert.equal(limits[0], limits[1])
  })
})
