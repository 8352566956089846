import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { OtpChannel, SmsMessage } from '../../sms/provider.ts'
import { twilio } from '../../sms/twilio.ts'
import type { VendorResponse } from '../support/vendor-server.ts'
import {
  accepted,
  account,
  type Build,
  basic,
  build,
  message,
  names,
  poster,
  provider,
  whatsapp,
} from './vendors.ts'

suite('requests by SMS provider', () => {
  interface Case {
    build: Build
    message?: SmsMessage
    path: string
    authorization?: string
    form: Record<string, string>
    id: string
    answer: VendorResponse
  }
  const messages = '/2010-04-01/Accounts/AC%201%2F2/Messages.json'
  const byWhatsapp = { To: 'whatsapp:+15550100200', Channel: 'whatsapp' }
  const cases: Record<string, Case> = {
    twilio: {
      build: build.twilio,
      path: messages,
      authorization: basic,
      form: { To: '+15550100200', Channel: 'sms', From: 'MG123', Body: message.text },
      id: 'SM1',
      answer: accepted.twilio,
    },
    'twilio, WhatsApp': {
      build: build.twilio,
      message: whatsapp,
      path: messages,
      authorization: basic,
      form: { ...byWhatsapp, From: 'MG123', Body: message.text },
      id: 'SM1',
      answer: accepted.twilio,
    },
    'twilio, WhatsApp from a number with a template': {
      build: (url, post) =>
        twilio({ ...account, url, sender: '+15550109999', contentSid: 'HX1' }, post),
      message: whatsapp,
      path: messages,
      authorization: basic,
      form: {
        ...byWhatsapp,
        From: 'whatsapp:+15550109999',
        ContentSid: 'HX1',
        ContentVariables: '{"1":"482910"}',
      },
      id: 'SM1',
      answer: { ...(accepted.twilio as object), status: 200 },
    },
    twilio_verify: {
      build: build.twilio_verify,
      path: '/v2/Services/VA1/Verifications',
      authorization: basic,
      form: { To: '+15550100200', Channel: 'sms' },
      id: 'VE1',
      answer: accepted.twilio_verify,
    },
    'twilio_verify, WhatsApp': {
      build: build.twilio_verify,
      message: whatsapp,
      path: '/v2/Services/VA1/Verifications',
      authorization: basic,
      form: { To: '+15550100200', Channel: 'whatsapp' },
      id: 'VE1',
      answer: accepted.twilio_verify,
    },
    messagebird: {
      build: build.messagebird,
      path: '/messages',
      authorization: 'AccessKey live_k',
      form: {
        originator: 'Acme',
        body: message.text,
        recipients: '15550100200',
        type: 'sms',
        datacoding: 'unicode',
      },
      id: 'mb1',
      answer: accepted.messagebird,
    },
    textlocal: {
      build: build.textlocal,
      path: '/send',
      form: { sender: 'ACME', apikey: 'k', message: message.text, numbers: '15550100200' },
      id: '77',
      answer: accepted.textlocal,
    },
    vonage: {
      build: build.vonage,
      path: '/sms/json',
      form: {
        from: 'Acme',
        to: '15550100200',
        text: message.text,
        api_key: 'k',
        api_secret: 's',
        type: 'unicode',
      },
      id: 'v1',
      answer: accepted.vonage,
    },
    'vonage, plain ASCII': {
      build: build.vonage,
      message: { ...message, text: 'Your code is 482910' },
      path: '/sms/json',
      form: {
        from: 'Acme',
        to: '15550100200',
        text: 'Your code is 482910',
        api_key: 'k',
        api_secret: 's',
      },
      id: 'v1',
      answer: accepted.vonage,
    },
  }
  for (const [name, expected] of Object.entries(cases)) {
    test(`${name}: sends the documented form`, async (t) => {
      const { vendor, provider: sms } = await provider(t, expected.build, expected.answer)

      assert.deepEqual(await sms.send(expected.message ?? message), { messageId: expected.id })

      assert.equal(vendor.seen.length, 1)
      const [seen] = vendor.seen
      assert.equal(seen?.method, 'POST')
      assert.equal(seen.path, expected.path)
      assert.equal(seen.headers.authorization, expected.authorization)
      assert.match(seen.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/)
      assert.deepEqual(seen.form, expected.form)
    })
  }
})

test('supports WhatsApp for the two Twilio providers only', () => {
  const channels = names.map((name) => [name, build[name]('http://x', poster(1)).channels])
  const both: OtpChannel[] = ['sms', 'whatsapp']
  assert.deepEqual(channels, [
    ['twilio', both],
    ['twilio_verify', both],
    ['messagebird', ['sms']],
    ['textlocal', ['sms']],
    ['vonage', ['sms']],
  ])
})
