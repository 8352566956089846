import assert from 'node:assert/strict'
import { after, suite, type TestContext, test } from 'node:test'

import { createHttpClient } from '../../plugins/http-client.ts'
import { createFormClient, type PostForm } from '../../sms/form-client.ts'
import { messagebird } from '../../sms/messagebird.ts'
import { type Channel, SmsError, type SmsMessage, type SmsProvider } from '../../sms/provider.ts'
import { redacting } from '../../sms/redacting.ts'
import { textlocal } from '../../sms/textlocal.ts'
import { twilio } from '../../sms/twilio.ts'
import { twilioVerify } from '../../sms/twilio-verify.ts'
import { vonage } from '../../sms/vonage.ts'
import { type Answer, deadUrl, vendorServer } from '../support/vendor-server.ts'

const proxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined }
const { fetch, close } = createHttpClient({ dev: false, proxy })
after(close)

const message: SmsMessage = {
  phone: '15550100200',
  text: 'Ihr Code für A&B: 482910',
  code: '482910',
  channel: 'sms',
}
const whatsapp: SmsMessage = { ...message, channel: 'whatsapp' }

type Build = (url: string, post: PostForm) => SmsProvider
const account = {
  accountSid: 'AC 1/2',
  authToken: 'tok:en',
  sender: 'MG123',
  contentSid: undefined,
}
const build = {
  twilio: (url, post) => twilio({ ...account, url }, post),
  twilio_verify: (url, post) => twilioVerify({ ...account, url, sender: 'VA1' }, post),
  messagebird: (url, post) => messagebird({ url, accessKey: 'live_k', originator: 'Acme' }, post),
  textlocal: (url, post) => textlocal({ url, apiKey: 'k', sender: 'ACME' }, post),
  vonage: (url, post) => vonage({ url, apiKey: 'k', apiSecret: 's', from: 'Acme' }, post),
} satisfies Record<string, Build>

const accepted: Record<keyof typeof build, Answer> = {
  twilio: { status: 201, json: { sid: 'SM1', status: 'queued', error_message: null } },
  twilio_verify: { status: 201, json: { sid: 'VE1', status: 'pending', valid: false } },
  messagebird: { status: 201, json: { id: 'mb1', recipients: { totalSentCount: 1 } } },
  textlocal: { json: { status: 'success', messages: [{ id: '77', recipient: 15550100200 }] } },
  vonage: { json: { 'message-count': '1', messages: [{ status: '0', 'message-id': 'v1' }] } },
}
const names = Object.keys(build) as (keyof typeof build)[]

async function provider(t: TestContext, make: Build, ...answers: [Answer, ...Answer[]]) {
  const vendor = await vendorServer(t, ...answers)
  // A server that answers is waited for, however busy the machine is.
  const isSilent = answers.some((answer) => answer === 'hang' || answer === 'stall')
  return { vendor, provider: make(vendor.url, poster(isSilent ? 1000 : 30_000)) }
}

function poster(timeoutMs: number): PostForm {
  return createFormClient({ fetch, timeoutMs, retryDelayMs: 5 })
}

const basic = `Basic ${Buffer.from('AC 1/2:tok:en').toString('base64')}`

suite('what each provider is asked', () => {
  interface Case {
    build: Build
    message?: SmsMessage
    path: string
    authorization?: string
    form: Record<string, string>
    id: string
    answer: Answer
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
  for (const [name, wanted] of Object.entries(cases)) {
    test(name, async (t) => {
      const { vendor, provider: sms } = await provider(t, wanted.build, wanted.answer)

      assert.deepEqual(await sms.send(wanted.message ?? message), { messageId: wanted.id })

      assert.equal(vendor.seen.length, 1)
      const [seen] = vendor.seen
      assert.equal(seen?.method, 'POST')
      assert.equal(seen.path, wanted.path)
      assert.equal(seen.headers.authorization, wanted.authorization)
      assert.match(seen.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/)
      assert.deepEqual(seen.form, wanted.form)
    })
  }
})

suite('refusals', () => {
  const fault = { code: 21211, message: 'Invalid number', more_info: 'https://t.example/21211' }
  const messagebirdFault = { errors: [{ code: 9, description: 'no (correct) recipients found' }] }
  const cases: [keyof typeof build, Answer, RegExp][] = [
    [
      'twilio',
      { status: 400, json: fault },
      /status 400: Invalid number https:\/\/t.example\/21211/,
    ],
    ['twilio', { json: { sid: 'SM1', status: 'failed', error_message: 'x' } }, /message failed: x/],
    ['twilio', { json: { sid: 'SM1', status: 'undelivered' } }, /undelivered/],
    ['twilio', { status: 500, json: { sid: 'SM1', status: 'queued' } }, /status 500/],
    ['twilio', { status: 201, json: { status: 'queued' } }, /unreadable/],
    ['twilio_verify', { status: 429, json: fault }, /status 429: Invalid number/],
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
  for (const [name, answer, detail] of cases) {
    test(`${name}: ${detail.source}`, async (t) => {
      const { provider: sms } = await provider(t, build[name], answer)
      await assert.rejects(sms.send(message), refusalOf(name, detail))
    })
  }
})

for (const name of names) {
  suite(`${name}: a bad line`, { concurrency: true }, () => {
    const answers: [string, Answer, RegExp][] = [
      ['not JSON', { text: '<html>482910' }, /unreadable/],
      ['JSON of another kind', { json: [1, null] }, /unreadable/],
      ['null', { json: null }, /unreadable/],
      ['silence', 'hang', /TimeoutError/],
      ['half an answer', 'stall', /TimeoutError/],
      ['a dropped connection', 'drop', /no answer \(UND_ERR_SOCKET\)/],
      ['a redirect', { status: 302, headers: { location: '/x' } }, /no answer/],
    ]
    for (const [what, answer, detail] of answers) {
      test(`${what} is a failure, and nothing is asked twice`, async (t) => {
        const { vendor, provider: sms } = await provider(t, build[name], answer)
        await assert.rejects(sms.send(message), refusalOf(name, detail))
        assert.equal(vendor.seen.length, 1)
      })
    }

    test('a server that is not there is tried again, then given up', async () => {
      const sms = build[name](await deadUrl(), poster(30_000))
      await assert.rejects(sms.send(message), refusalOf(name, /no answer \(ECONNREFUSED\)/))
    })
  })
}

suite('second attempts', () => {
  test('when the first never reached the provider', async (t) => {
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

  const throttled: [keyof typeof build, Answer][] = [
    ['twilio', { status: 429, json: { code: 20429, message: 'Too Many Requests' } }],
    ['vonage', { json: { messages: [{ status: '1', 'error-text': 'Throttled' }] } }],
  ]
  for (const [name, busy] of throttled) {
    test(`${name}: once when it was busy`, async (t) => {
      const { vendor, provider: sms } = await provider(t, build[name], busy, accepted[name])
      await sms.send(message)
      assert.equal(vendor.seen.length, 2)
      assert.deepEqual(vendor.seen[0]?.form, vendor.seen[1]?.form)
    })

    test(`${name}: not more than once`, async (t) => {
      const { vendor, provider: sms } = await provider(t, build[name], busy)
      await assert.rejects(sms.send(message), SmsError)
      assert.equal(vendor.seen.length, 2)
    })
  }

  test('the time limit covers both attempts', async (t) => {
    const busy: Answer = { status: 429, json: { message: 'busy' } }
    const vendor = await vendorServer(t, busy, 'hang')
    const limits: unknown[] = []
    const watched: typeof fetch = (input, init) => {
      limits.push(init?.signal)
      return fetch(input, init)
    }
    const post = createFormClient({ fetch: watched, timeoutMs: 1000, retryDelayMs: 5 })
    await assert.rejects(
      build.twilio(vendor.url, post).send(message),
      refusalOf('twilio', /TimeoutError/),
    )
    assert.equal(limits.length, 2)
    assert.ok(limits[0] instanceof AbortSignal)
    assert.equal(limits[0], limits[1])
  })
})

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

suite('errors hold no personal digits', () => {
  const quotes = [
    "The 'To' number +15550100200 is not valid",
    'number +1 (555) 010-0200 is barred',
    'duplicate text: Your code is 482910',
    'duplicate text: 482-910',
  ]
  for (const quote of quotes) {
    test(quote, async (t) => {
      const answer: Answer = { status: 400, json: { message: quote } }
      const { provider: sms } = await provider(t, build.twilio, answer)
      const error = await redacting(sms)
        .send(message)
        .catch((thrown) => thrown)
      assert.ok(error instanceof SmsError)
      assert.match(error.message, /status 400: .*\[…\]/)
      assert.doesNotMatch(error.message.replace(/\D/g, ''), /15550100200|482910/)
      assert.doesNotMatch(String(error.stack).replace(/[\s().-]/g, ''), /15550100200|482910/)
    })
  }

  test('the check of a code as well, and its verdict passes', async (t) => {
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
      refusalOf('twilio_verify', /Code: \[…\]/),
    )
  })
})

test('only the two Twilio providers have WhatsApp', () => {
  const channels = names.map((name) => [name, build[name]('http://x', poster(1)).channels])
  const both: Channel[] = ['sms', 'whatsapp']
  assert.deepEqual(channels, [
    ['twilio', both],
    ['twilio_verify', both],
    ['messagebird', ['sms']],
    ['textlocal', ['sms']],
    ['vonage', ['sms']],
  ])
})

function refusalOf(name: string, detail: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof SmsError)
    assert.equal(error.provider, name)
    assert.match(error.detail, detail)
    return true
  }
}
