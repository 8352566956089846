import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'

import Fastify from 'fastify'

import configPlugin from '../../../plugins/config.ts'
import db from '../../../plugins/database/db.ts'
import pool from '../../../plugins/database/pool/index.ts'
import languagesPlugin, { createLanguages } from '../../../plugins/localization/languages/index.ts'
import devInbox from '../../../plugins/messaging/dev-inbox.ts'
import type { SmsConfig } from '../../../plugins/messaging/sms/choose-provider.ts'
import smsPlugin, {
  createSms,
  type DeliverSms,
  smsNotices,
} from '../../../plugins/messaging/sms/index.ts'
import telemetry from '../../../plugins/observability/telemetry/index.ts'
import hooks from '../../../plugins/outgoing/hooks/index.ts'
import httpClient from '../../../plugins/outgoing/http-client/index.ts'
import { ApiError } from '../../../schemas/errors.ts'
import type { SmsMessage } from '../../../sms/provider.ts'
import { testConfig } from '../../support/config.ts'
import { type VendorResponse, vendorServer } from '../../support/vendor-server.ts'

const unset: SmsConfig = testConfig({ AUTH_SMS_TEST_OTP: '+1 555 010 0299:123456' })
const credentials: Partial<SmsConfig> = {
  AUTH_SMS_TWILIO_ACCOUNT_SID: 'AC1',
  AUTH_SMS_TWILIO_AUTH_TOKEN: 't',
  AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID: 'MG1',
  AUTH_SMS_TWILIO_VERIFY_ACCOUNT_SID: 'AC2',
  AUTH_SMS_TWILIO_VERIFY_AUTH_TOKEN: 't',
  AUTH_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID: 'VA2',
  AUTH_SMS_MESSAGEBIRD_ACCESS_KEY: 'k',
  AUTH_SMS_MESSAGEBIRD_ORIGINATOR: 'o',
  AUTH_SMS_TEXTLOCAL_API_KEY: 'k',
  AUTH_SMS_TEXTLOCAL_SENDER: 's',
  AUTH_SMS_VONAGE_API_KEY: 'k',
  AUTH_SMS_VONAGE_API_SECRET: 's',
  AUTH_SMS_VONAGE_FROM: 'f',
}
const languages = createLanguages(testConfig({}), {
  tags: [],
  texts: () => undefined,
  renew: async () => {},
  reload: async () => {},
})

const request = {
  phone: '15550100200',
  code: '482910',
  channel: 'sms',
  messageId: 'b1a7d1a2-0000-4000-8000-000000000000',
} as const

function make(config: Partial<SmsConfig>, deliver?: DeliverSms) {
  const lines: string[] = []
  const note = (...args: unknown[]) => void lines.push(inspect(args, { breakLength: Infinity }))
  const log = { info: note, warn: note }
  const settings = { ...unset, ...config }
  const deps = { config: settings, languages, fetch, log, deliver }
  const sms = createSms({ ...deps, timeoutMs: 2000, retryDelayMs: 5 })
  return { sms, lines }
}

async function twilio(t: TestContext, response: VendorResponse, config: Partial<SmsConfig> = {}) {
  const vendor = await vendorServer(t, response)
  const urls = { AUTH_SMS_TWILIO_URL: vendor.url, AUTH_SMS_TWILIO_VERIFY_URL: vendor.url }
  const made = make({ ...credentials, ...urls, AUTH_SMS_PROVIDER: 'twilio', ...config })
  return { vendor, ...made }
}

function responses(errorCode: string, status: number) {
  return (error: unknown) => {
    assert.ok(error instanceof ApiError)
    assert.deepEqual([error.errorCode, error.status], [errorCode, status])
    assert.doesNotMatch(error.message, /Bad|15550100200|482910/)
    return true
  }
}

suite('sms.send', () => {
  for (const variable of ['AUTH_SMS_TEMPLATE', 'AUTH_MFA_PHONE_TEMPLATE']) {
    test(`warns at startup when ${variable} has no placeholder for the code`, () => {
      const notices = (template: string) => smsNotices(testConfig({ [variable]: template }), true)
      assert.deepEqual(notices('Hello {{ .Token }}'), [
        `${variable} has no {{ .Code }}: messages will not contain the code`,
      ])
      assert.deepEqual(notices('{{ .Code }} it is'), [])
    })
  }

  test('sends the rendered template and logs both message ids, without digits', async (t) => {
    const { vendor, sms, lines } = await twilio(
      t,
      { json: { sid: 'SM9' } },
      {
        AUTH_MFA_PHONE_TEMPLATE: '{{ .Code }} signs you in',
        given: new Set(['AUTH_MFA_PHONE_TEMPLATE']),
      },
    )

    await sms.send(request)
    await sms.send({ ...request, isFactor: true })

    assert.deepEqual(
      vendor.seen.map(({ form }) => form.Body),
      ['Your code is 482910', '482910 signs you in'],
    )
    assert.match(lines.join(), /b1a7d1a2-.*twilio.*SM9/)
    assert.doesNotMatch(lines.join(), /15550100200|482910/)
  })

  test('returns 422 for a rejection and logs its reason, without digits', async (t) => {
    const reason = { message: 'Bad number +15550100200 for "Your code is 482910"' }
    const { sms, lines } = await twilio(t, { status: 400, json: reason })

    await assert.rejects(sms.send(request), responses('sms_send_failed', 422))
    assert.match(lines.join(), /Bad number/)
    assert.doesNotMatch(lines.join(), /15550100200|482910/)
  })

  test('fails without a provider', async () => {
    const { sms } = make({})
    assert.equal(sms.enabled, false)
    await assert.rejects(sms.send(request), responses('unexpected_failure', 500))
  })

  test('delivers to the development inbox with any provider', async () => {
    const inbox: SmsMessage[] = []
    const { sms } = make({ AUTH_SMS_PROVIDER: 'twilio_verify' }, async (message) => {
      inbox.push(message)
    })

    await sms.send({ ...request, channel: 'whatsapp' })

    assert.equal(sms.verify, undefined)
    const { phone, code } = request
    const text = 'Your code is 482910'
    assert.deepEqual(inbox, [{ phone, code, text, channel: 'whatsapp' }])
  })
})

suite('sms.verify', () => {
  test('exists for twilio_verify only', async (t) => {
    const approved = { json: { status: 'approved', valid: true } }
    const { sms } = await twilio(t, approved, { AUTH_SMS_PROVIDER: 'twilio_verify' })
    assert.equal(await sms.verify?.('15550100200', '482910'), true)
    assert.equal((await twilio(t, approved)).sms.verify, undefined)
  })

  test('does not treat a provider failure as a wrong code', async (t) => {
    const { sms, lines } = await twilio(t, 'drop', { AUTH_SMS_PROVIDER: 'twilio_verify' })
    await assert.rejects(
      async () => sms.verify?.('15550100200', '482910'),
      responses('unexpected_failure', 500),
    )
    assert.doesNotMatch(lines.join(), /15550100200|482910/)
  })
})

suite('configuration', () => {
  const deps = [
    ['twilio', 'AUTH_SMS_TWILIO_AUTH_TOKEN'],
    ['twilio_verify', 'AUTH_SMS_TWILIO_VERIFY_MESSAGE_SERVICE_SID'],
    ['messagebird', 'AUTH_SMS_MESSAGEBIRD_ORIGINATOR'],
    ['textlocal', 'AUTH_SMS_TEXTLOCAL_SENDER'],
    ['vonage', 'AUTH_SMS_VONAGE_API_SECRET'],
  ] as const
  for (const [name, key] of deps) {
    test(`${name} sends with its credentials, and warns without ${key}`, async () => {
      const config = { ...credentials, AUTH_SMS_PROVIDER: name }
      assert.equal(make(config).sms.enabled, true)

      const { sms, lines } = make({ ...config, [key]: undefined })

      assert.equal(sms.enabled, false)
      assert.match(lines.join(), new RegExp(`AUTH_SMS_PROVIDER=${name} needs ${key}`))
      await assert.rejects(sms.send(request), responses('unexpected_failure', 500))
    })
  }

  test('accepts SMS for each provider and WhatsApp for Twilio', () => {
    const { sms } = make({ ...credentials, AUTH_SMS_PROVIDER: 'twilio' })
    const channels = [undefined, '', 'sms', 'whatsapp'].map(sms.parseChannel)
    assert.deepEqual(channels, ['sms', 'sms', 'sms', 'whatsapp'])
    assert.throws(() => sms.parseChannel('carrier-pigeon'), responses('validation_failed', 400))
    const vonage = make({ ...credentials, AUTH_SMS_PROVIDER: 'vonage' }).sms
    assert.throws(() => vonage.parseChannel('whatsapp'), responses('validation_failed', 400))
  })

  test('reads test OTPs from the configuration', () => {
    assert.equal(make({}).sms.testOtp('15550100299', new Date()), '123456')
  })
})

suite('SMS in a server', () => {
  async function boot(t: TestContext, variables: Record<string, string>, dev: boolean) {
    const lines: string[] = []
    const stream = { write: (line: string) => void lines.push(line) }
    const app = Fastify({ logger: { level: 'info', stream } })
    t.after(() => app.close())
    await app.register(configPlugin, { config: testConfig(variables, dev) })
    for (const plugin of [
      telemetry,
      pool,
      db,
      httpClient,
      hooks,
      languagesPlugin,
      devInbox,
      smsPlugin,
    ]) {
      await app.register(plugin)
    }
    return { app, lines }
  }

  test('uses the configured provider', async (t) => {
    const response = { json: { messages: [{ status: '0', 'message-id': 'v1' }] } }
    const vendor = await vendorServer(t, response)
    const { app, lines } = await boot(
      t,
      {
        AUTH_EXTERNAL_PHONE_ENABLED: 'true',
        AUTH_SMS_PROVIDER: 'Vonage',
        AUTH_SMS_VONAGE_API_KEY: 'k',
        AUTH_SMS_VONAGE_API_SECRET: 's',
        AUTH_SMS_VONAGE_FROM: 'Acme',
        AUTH_SMS_VONAGE_URL: `${vendor.url}/`,
        AUTH_SMS_TEMPLATE: '{{ .Code }} for Acme',
      },
      false,
    )

    await app.sms.send(request)

    assert.equal(vendor.seen[0]?.form.text, '482910 for Acme')
    assert.equal(vendor.seen[0].path, '/sms/json')
    assert.doesNotMatch(lines.join(), /15550100200|482910/)
  })

  test('logs test OTPs and a template without the code at startup', async (t) => {
    const { lines } = await boot(
      t,
      {
        AUTH_SMS_TEST_OTP: '15550100299:123456',
        AUTH_SMS_TEST_OTP_VALID_UNTIL: '2030-01-01T00:00:00Z',
        AUTH_SMS_TEMPLATE: 'hello',
      },
      false,
    )
    assert.match(lines.join(), /AUTH_SMS_TEST_OTP: 1 number.*2030-01-01T00:00:00/)
    assert.match(lines.join(), /AUTH_SMS_TEMPLATE has no/)
    assert.doesNotMatch(lines.join(), /15550100299|123456/)
  })

  test('delivers to the inbox in development', async (t) => {
    const { app } = await boot(t, {}, true)
    await app.sms.send(request)
    assert.deepEqual(
      app.devInbox?.list().map(({ text }) => text),
      ['Your code is 482910'],
    )
  })
})
