/** The AUTH_SMTP_* settings, held against what a real mail server sees. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'

import type { SMTPServerOptions } from 'smtp-server'

import { mailKindNames, mailKinds } from '../../../mail/kinds.ts'
import { MailTransportError } from '../../../mail/transport-error.ts'
import { createSmtpDelivery, type Delivery } from '../../../plugins/mailer/deliver.ts'
import { certificate } from '../../mail/certificate.ts'
import { startSmtp } from '../../mail/smtp.ts'
import { configOf } from '../../support/config.ts'

const letter: Delivery = {
  kind: 'recovery',
  messageId: '<1@example.com>',
  to: 'ada@example.org',
  date: new Date('2026-03-04T05:06:07Z'),
  subject: 'Hello',
  html: '<p>Hello</p>',
  text: 'Hello',
  links: [],
  code: null,
}

type Offer = 'clear' | 'starttls' | 'implicit'
type Outcome = 'encrypted' | 'in clear' | 'refused'

const encryption: [setting: string, offer: Offer, outcome: Outcome][] = [
  ['auto', 'clear', 'in clear'],
  ['auto', 'starttls', 'encrypted'],
  ['none', 'starttls', 'in clear'],
  ['none', 'clear', 'in clear'],
  ['starttls', 'starttls', 'encrypted'],
  ['starttls', 'clear', 'refused'],
  ['implicit', 'implicit', 'encrypted'],
  ['implicit', 'starttls', 'refused'],
]

const names: [url: string, name: string][] = [
  ['https://auth.example.com', 'auth.example.com'],
  ['https://auth.example.com:8443/auth/v1', 'auth.example.com'],
  ['http://127.0.0.1:9999', '[127.0.0.1]'],
  ['http://[::1]:9999', '[ipv6:::1]'],
]

suite('mail server settings', () => {
  for (const [setting, offer, outcome] of encryption) {
    test(`AUTH_SMTP_TLS=${setting}, the server speaks ${offer}: ${outcome}`, async (t) => {
      const pair = certificate(t)
      trust(t, pair.cert)
      const { deliver, mails } = await start(t, { AUTH_SMTP_TLS: setting }, serverThat(offer, pair))

      const sent = deliver(letter)

      if (outcome === 'refused') {
        await assert.rejects(sent, (error) => isTemporary(error))
        assert.equal(mails.length, 0)
      } else {
        await sent
        assert.deepEqual(
          mails.map(({ secure }) => secure),
          [outcome === 'encrypted'],
        )
      }
    })
  }

  test('user and password reach the mail server', async (t) => {
    const { deliver, mails } = await start(
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

    await deliver(letter)

    assert.equal(mails[0]?.user, 'mailer')
  })

  for (const [url, name] of names) {
    test(`a server at ${url} calls itself ${name}`, async (t) => {
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

      await deliver(letter)

      assert.deepEqual(
        seen.map((said) => said.toLowerCase()),
        [name],
      )
    })
  }

  test('the configured headers stand on every kind, with its name filled in', async (t) => {
    const headers = { 'X-Kind': ['is $messageType', 'b'], 'Reply-To': ['help@example.com'] }
    const { deliver, mails } = await start(t, { AUTH_SMTP_HEADERS: JSON.stringify(headers) })

    for (const kind of mailKindNames) await deliver({ ...letter, kind, messageId: `<${kind}@x>` })

    for (const [i, kind] of mailKindNames.entries()) {
      const parsed = mails[i]?.parsed
      assert.deepEqual(parsed?.headers.get('x-kind'), [`is ${mailKinds[kind].messageType}`, 'b'])
      assert.equal(parsed?.replyTo?.text, 'help@example.com')
    }
  })

  const senders = {
    'Grüße, Inc.': /^From: =\?UTF-8\?Q\?Gr=C3=BC=C3=9Fe=2C_Inc=2E\?= <auth@example\.com>\r$/m,
    'Eve" <eve@example.net>': /^From: "Eve\\" <eve@example\.net>" <auth@example\.com>\r$/m,
    '': /^From: "?auth@example\.com"? <auth@example\.com>\r$/m,
  }
  for (const [name, line] of Object.entries(senders)) {
    test(`the sender's name is ${name || 'not set'}`, async (t) => {
      const { deliver, mails } = await start(t, { AUTH_SMTP_SENDER_NAME: name })

      await deliver(letter)

      assert.match(mails[0]?.raw ?? '', line)
      assert.deepEqual(
        mails[0]?.parsed.from?.value.map(({ address }) => address),
        ['auth@example.com'],
      )
    })
  }
})

async function start(t: TestContext, env: Record<string, string>, options: SMTPServerOptions = {}) {
  const { port, mails } = await startSmtp(t, options)
  const server = { AUTH_SMTP_HOST: '127.0.0.1', AUTH_SMTP_PORT: String(port) }
  const delivery = createSmtpDelivery(
    configOf({ ...server, AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com', ...env }),
  )
  assert.ok(delivery)
  t.after(delivery.close)
  return { deliver: delivery.deliver, mails }
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
