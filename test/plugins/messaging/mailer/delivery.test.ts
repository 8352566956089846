/** The AUTH_SMTP_* settings as a real mail server sees them. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

import type { SMTPServerOptions } from 'smtp-server'

import { emailKindDefinitions, mailKindNames } from '../../../../mail/kinds/index.ts'
import { MailTransportError } from '../../../../mail/transport-error.ts'
import {
  createSmtpDelivery,
  type EmailDelivery,
} from '../../../../plugins/messaging/mailer/deliver.ts'
import { certificate } from '../../../mail/certificate.ts'
import { startSmtp } from '../../../mail/smtp.ts'
import { testConfig } from '../../../support/config.ts'

const message: EmailDelivery = {
  kind: 'recovery',
  messageId: '<1@example.com>',
  to: 'ada@example.org',
  date: new Date('2026-03-04T05:06:07Z'),
  subject: 'Hello',
  html: '<p>Hello</p>',
  text: 'Hello',
  problems: [],
  code: null,
}

type Offer = 'clear' | 'starttls' | 'implicit'
type Outcome = 'encrypted' | 'unencrypted' | 'rejected'

const encryption: [setting: string, offer: Offer, outcome: Outcome][] = [
  ['auto', 'clear', 'unencrypted'],
  ['auto', 'starttls', 'encrypted'],
  ['none', 'starttls', 'unencrypted'],
  ['none', 'clear', 'unencrypted'],
  ['starttls', 'starttls', 'encrypted'],
  ['starttls', 'clear', 'rejected'],
  ['implicit', 'implicit', 'encrypted'],
  ['implicit', 'starttls', 'rejected'],
]

const names: [url: string, name: string][] = [
  ['https://auth.example.com', 'auth.example.com'],
  ['https://auth.example.com:8443/auth/v1', 'auth.example.com'],
  ['http://127.0.0.1:9999', '[127.0.0.1]'],
  ['http://[::1]:9999', '[ipv6:::1]'],
]

suite('AUTH_SMTP_* settings', () => {
  for (const [setting, offer, outcome] of encryption) {
    test(`AUTH_SMTP_TLS=${setting} with a ${offer} server: ${outcome}`, async (t) => {
      const pair = certificate(t)
      trust(t, pair.cert)
      const { deliver, emails } = await start(
        t,
        { AUTH_SMTP_TLS: setting },
        serverThat(offer, pair),
      )

      const sent = deliver(message)

      if (outcome === 'rejected') {
        await assert.rejects(sent, (error) => isTemporary(error))
        assert.equal(emails.length, 0)
      } else {
        await sent
        assert.deepEqual(
          emails.map(({ secure }) => secure),
          [outcome === 'encrypted'],
        )
      }
    })
  }

  test('authenticates with user and password', async (t) => {
    const { deliver, emails } = await start(
      t,
      { AUTH_SMTP_USER: 'mailer', AUTH_SMTP_PASS: 'secret' },
      {
        authOptional: false,
        allowInsecureAuth: true,
        onAuth({ username, password }, _session, callback) {
          if (password === 'secret') callback(null, { user: username })
          else callback(new Error('no'))
        },
      },
    )

    await deliver(message)

    assert.equal(emails[0]?.user, 'mailer')
  })

  for (const [url, name] of names) {
    test(`announces itself as ${name} for ${url}`, async (t) => {
      const seen: string[] = []
      const { deliver } = await start(
        t,
        { AUTH_API_EXTERNAL_URL: url },
        {
          onMailFrom(_address, { hostNameAppearsAs }, callback) {
            seen.push(hostNameAppearsAs)
            callback()
          },
        },
      )

      await deliver(message)

      assert.deepEqual(
        seen.map((output) => output.toLowerCase()),
        [name],
      )
    })
  }

  test('adds the configured headers to each email with its message type', async (t) => {
    const headers = { 'X-Kind': ['is $messageType', 'b'], 'Reply-To': ['help@example.com'] }
    const { deliver, emails } = await start(t, {
      AUTH_SMTP_HEADERS: JSON.stringify(headers),
    })

    for (const kind of mailKindNames) await deliver({ ...message, kind, messageId: `<${kind}@x>` })

    for (const [i, kind] of mailKindNames.entries()) {
      const parsed = emails[i]?.parsed
      assert.deepEqual(parsed?.headers.get('x-kind'), [
        `is ${emailKindDefinitions[kind].messageType}`,
        'b',
      ])
      assert.equal(parsed?.replyTo?.text, 'help@example.com')
    }
  })

  const senders = {
    'Grüße, Inc.': /^From: =\?UTF-8\?Q\?Gr=C3=BC=C3=9Fe=2C_Inc=2E\?= <auth@example\.com>\r$/m,
    'Eve" <eve@example.net>': /^From: "Eve\\" <eve@example\.net>" <auth@example\.com>\r$/m,
    '': /^From: "?auth@example\.com"? <auth@example\.com>\r$/m,
  }
  for (const [name, line] of Object.entries(senders)) {
    test(`sets the sender name to ${name || 'nothing'}`, async (t) => {
      const { deliver, emails } = await start(t, { AUTH_SMTP_SENDER_NAME: name })

      await deliver(message)

      assert.match(emails[0]?.raw ?? '', line)
      assert.deepEqual(
        emails[0]?.parsed.from?.value.map(({ address }) => address),
        ['auth@example.com'],
      )
    })
  }
})

async function start(t: TestContext, env: Record<string, string>, options: SMTPServerOptions = {}) {
  const { port, emails } = await startSmtp(t, options)
  const server = { AUTH_SMTP_HOST: '127.0.0.1', AUTH_SMTP_PORT: String(port) }
  const delivery = createSmtpDelivery(
    testConfig({ ...server, AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com', ...env }),
  )
  assert.ok(delivery)
  t.after(delivery.close)
  return { deliver: delivery.deliver, emails }
}

function serverThat(offer: Offer, pair: { key: string; cert: string }): SMTPServerOptions {
  if (offer === 'clear') return {}
  return offer === 'implicit' ? { ...pair, secure: true } : { ...pair, disabledCommands: [] }
}

/** As NODE_EXTRA_CA_CERTS does at the start of a process. */
function trust(t: TestContext, cert: string) {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, cert])
  t.after(() => setDefaultCACertificates(before))
}

function isTemporary(error: unknown): boolean {
  return error instanceof MailTransportError && error.outcome === 'temporary'
}
