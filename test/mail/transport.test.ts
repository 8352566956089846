import assert from 'node:assert/strict'
import { createServer, type Socket } from 'node:net'
import { suite, type TestContext, test } from 'node:test'

import { type MailTransportOptions, poolOptions } from '../../mail/smtp-options.ts'
import { buildMessageId, createMailTransport, type OutgoingMail } from '../../mail/transport.ts'
import { MailTransportError, type SendOutcome } from '../../mail/transport-error.ts'
import { freePort } from '../support/processes/free-port.ts'
import { listen } from '../support/processes/listening.ts'
import { certificate } from './certificate.ts'
import { startSmtp, transportOptions } from './smtp.ts'

const mail: OutgoingMail = {
  kind: 'recovery',
  messageId: '<b1c5@example.com>',
  to: 'ada@example.org',
  date: new Date('2026-03-04T05:06:07Z'),
  subject: 'Reset your password',
  html: '<p>Grüße, <b>Ada</b></p>',
  text: 'Grüße, Ada',
}

suite('SMTP transport', () => {
  test('delivers all headers and both parts', async (t) => {
    const { port, emails } = await startSmtp(t)
    const transport = open(t, port, { headers: { 'X-Tag': ['$messageType', 'b'] } })

    const sent = await transport.send(mail)

    assert.equal(sent.messageId, mail.messageId)
    assert.match(sent.response, /^250/)
    const [received] = emails
    assert.ok(received)
    const { parsed } = received
    assert.deepEqual(received.recipients, ['ada@example.org'])
    assert.equal(parsed.from?.text, '"Example" <no-reply@example.com>')
    assert.deepEqual(parsed.headers.get('to'), {
      value: [{ address: 'ada@example.org', name: '' }],
      html: '<span class="mp_address_group"><a href="mailto:ada@example.org" class="mp_address_email">ada@example.org</a></span>',
      text: 'ada@example.org',
    })
    assert.equal(parsed.subject, mail.subject)
    assert.deepEqual(parsed.date, mail.date)
    assert.equal(parsed.messageId, mail.messageId)
    assert.equal(parsed.html, mail.html)
    assert.equal(parsed.text?.trim(), mail.text)
    assert.deepEqual(parsed.headers.get('x-tag'), ['recovery', 'b'])
    assert.equal(parsed.headers.get('auto-submitted'), 'auto-generated')
    assert.equal(parsed.headers.get('x-mailer'), undefined)
    assert.match(
      received.raw,
      /text\/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable/i,
    )
  })

  test('reuses connections and sends its name in EHLO', async (t) => {
    const names: string[] = []
    let connections = 0
    const { port, emails } = await startSmtp(t, {
      onConnect(_session, callback) {
        connections++
        callback()
      },
      onMailFrom(_address, session, callback) {
        names.push(session.hostNameAppearsAs)
        callback()
      },
    })
    const transport = open(t, port)

    await transport.send(mail)
    await transport.send({ ...mail, messageId: '<2@example.com>' })

    assert.equal(emails.length, 2)
    assert.equal(connections, 1)
    assert.deepEqual(names, ['auth.example.com', 'auth.example.com'])
  })

  test('replaces a dead connection without losing or duplicating an email', async (t) => {
    const { port, emails, sockets } = await startSmtp(t)
    const transport = open(t, port)
    await transport.send(mail)
    for (const socket of sockets) socket.destroy()

    await transport.send({ ...mail, messageId: '<2@example.com>' })

    assert.deepEqual(
      emails.map(({ parsed }) => parsed.messageId),
      [mail.messageId, '<2@example.com>'],
    )
  })

  test('authenticates, and treats a wrong password as temporary', async (t) => {
    const { port, emails } = await startSmtp(t, {
      authOptional: false,
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, callback) {
        const right = username === 'mailer' && password === 'secret'
        callback(right ? null : new Error('no'), right ? { user: username } : undefined)
      },
    })

    const transport = open(t, port, { user: 'mailer', pass: 'secret' })
    await transport.verify()
    await transport.send(mail)
    const wrong = open(t, port, { user: 'mailer', pass: 'guess' })

    assert.equal(emails[0]?.user, 'mailer')
    await assert.rejects(wrong.verify(), hasOutcome('temporary', 535))
    await assert.rejects(wrong.send(mail), hasOutcome('temporary', 535))
  })

  test('uses STARTTLS when offered and verifies the certificate', async (t) => {
    const { key, cert } = certificate(t)
    const { port, emails } = await startSmtp(t, { key, cert, disabledCommands: [] })

    await open(t, port, { ca: cert }).send(mail)

    assert.equal(emails[0]?.secure, true)
    await assert.rejects(open(t, port).send(mail), hasOutcome('temporary'))
    assert.equal(emails.length, 1)
  })

  test('fails before sending when required TLS is not offered', async (t) => {
    const { port, emails } = await startSmtp(t)

    await assert.rejects(
      open(t, port, { tls: 'starttls' }).send(mail),
      hasOutcome('temporary', 500),
    )

    assert.equal(emails.length, 0)
  })

  test('does not send a password without TLS', async (t) => {
    let requested = false
    const { port, emails } = await startSmtp(t, {
      allowInsecureAuth: true,
      onAuth(_auth, _session, callback) {
        requested = true
        callback(null, { user: 'x' })
      },
    })
    // 0.0.0.0 reaches this machine and is not one of its loopback names.
    const transport = open(t, port, { host: '0.0.0.0', user: 'mailer', pass: 'secret' })

    await assert.rejects(transport.send(mail), hasOutcome('temporary', 500))

    assert.equal(requested, false)
    await open(t, port, { host: '0.0.0.0' }).send(mail)
    assert.equal(emails.length, 1, 'a mail without one does')
  })

  for (const [host, needsTls] of [
    ['localhost', false],
    ['::1', false],
    ['127.0.0.53', false],
    ['127.mail.example', true],
    ['localhost.example', true],
  ] as const) {
    test(`${needsTls ? 'requires' : 'does not require'} TLS for ${host}`, () => {
      const options = transportOptions(25, { host, user: 'mailer', pass: 'secret' })
      assert.equal(poolOptions(options).requireTLS, needsTls)
    })
  }

  const rejections: Record<string, [string, number, SendOutcome]> = {
    'a temporarily rejected recipient': ['onRcptTo', 451, 'temporary'],
    'an unknown recipient': ['onRcptTo', 550, 'permanent'],
    'required authentication': ['onRcptTo', 530, 'temporary'],
    'an unexpected command': ['onRcptTo', 503, 'temporary'],
    'a rejected sender': ['onMailFrom', 553, 'temporary'],
    'a full mailbox': ['onMailFrom', 452, 'temporary'],
    'an email that is too large': ['onMailFrom', 552, 'permanent'],
    'a rejected connection': ['onConnect', 554, 'temporary'],
  }
  for (const [name, [hook, code, outcome]] of Object.entries(rejections)) {
    test(`treats ${name} as ${outcome}`, async (t) => {
      const { port } = await startSmtp(t, { [hook]: reject(code) })

      await assert.rejects(open(t, port).send(mail), hasOutcome(outcome, code))
    })
  }

  for (const [code, outcome] of [
    [451, 'temporary'],
    [554, 'permanent'],
  ] as const) {
    test(`treats content rejected with ${code} as ${outcome}`, async (t) => {
      const { port } = await startSmtp(t, {
        onData(stream, _session, callback) {
          stream.resume().on('end', () => callback(reply(code)))
        },
      })
      const transport = open(t, port)

      await assert.rejects(transport.send(mail), hasOutcome(outcome, code))
    })
  }

  test('stores the server’s response outside logged fields', async (t) => {
    const { port } = await startSmtp(t, { onRcptTo: reject(550) })

    const error = await open(t, port)
      .send(mail)
      .catch((error: unknown) => error)

    assert.ok(error instanceof MailTransportError)
    assert.match(error.response ?? '', /ada@example\.org/)
    assert.doesNotMatch(JSON.stringify({ ...error }) + error.stack, /ada@/)
  })

  test('treats an unreachable server as temporary', async (t) => {
    await assert.rejects(open(t, await freePort()).send(mail), hasOutcome('temporary'))
  })

  test('treats a silent server as temporary after the timeout', async (t) => {
    const { port } = await startFake(t)

    await assert.rejects(
      open(t, port, { timeouts: timeouts({ greeting: 0.2 }) }).send(mail),
      hasOutcome('temporary'),
    )
  })

  test('treats a connection lost before the content as temporary', async (t) => {
    const { port } = await startFake(t, (line, socket) => {
      if (line.startsWith('RCPT')) socket.destroy()
      else socket.write('250 ok\r\n')
    })

    await assert.rejects(open(t, port).send(mail), hasOutcome('temporary'))
  })

  test('treats a connection lost after the content as ambiguous and does not retry', async (t) => {
    let texts = 0
    const { port } = await startFake(t, (line, socket) => {
      if (line === '.') {
        texts++
        socket.destroy()
      } else sendLines(line, socket)
    })

    await assert.rejects(open(t, port).send(mail), hasOutcome('ambiguous'))

    assert.equal(texts, 1)
  })

  test('treats a missing response to the content as ambiguous', async (t) => {
    const { port } = await startFake(t, (line, socket) => {
      if (line !== '.') sendLines(line, socket)
    })
    const silent = open(t, port, { timeouts: timeouts({ socket: 0.3 }) })
    const slow = open(t, port, { timeouts: timeouts({ socket: 60, total: 2 }) })

    await assert.rejects(silent.send(mail), hasOutcome('ambiguous'))
    await assert.rejects(slow.send(mail), hasOutcome('ambiguous'))
  })

  test('rejects emails after it was closed', async (t) => {
    const { port } = await startSmtp(t)
    const transport = open(t, port)
    transport.close()

    await assert.rejects(transport.send(mail), hasOutcome('temporary'))
  })

  const injections = {
    'a header in the subject': { subject: 'Hi\r\nBcc: eve@example.net' },
    'an email in the subject': { subject: 'Hi\r\n\r\n.\r\nMAIL FROM:<eve@example.net>\r\n' },
    'the end of the email in the text': { text: 'one\r\n.\r\nMAIL FROM:<eve@example.net>\r\n' },
  }
  for (const [name, change] of Object.entries(injections)) {
    test(`does not interpret ${name}`, async (t) => {
      const { port, emails } = await startSmtp(t)

      await open(t, port).send({ ...mail, ...change })

      assert.equal(emails.length, 1)
      assert.deepEqual(emails[0]?.recipients, ['ada@example.org'])
      assert.equal(emails[0]?.parsed.bcc, undefined)
      assert.equal(emails[0]?.parsed.html, mail.html)
    })
  }

  test('does not interpret a header in the sender name', async (t) => {
    const { port, emails } = await startSmtp(t)
    const name = 'Example" <eve@example.net>\r\nBcc: eve@example.net\r\nX: "'

    await open(t, port, { from: { name, address: 'no-reply@example.com' } }).send(mail)

    assert.deepEqual(emails[0]?.recipients, ['ada@example.org'])
    assert.equal(emails[0]?.parsed.bcc, undefined)
    assert.deepEqual(
      emails[0]?.parsed.from?.value.map(({ address }) => address),
      ['no-reply@example.com'],
    )
  })

  for (const to of [
    'ada@example.org, eve@example.net',
    'ada@example.org\r\nBcc: eve@example.net',
    'ada@example.org> SIZE=1',
    'Ada <ada@example.org>',
    'ada',
    '',
  ]) {
    test(`rejects the recipient ${JSON.stringify(to)} before connecting`, async (t) => {
      const { port, emails, sockets } = await startSmtp(t)

      await assert.rejects(open(t, port).send({ ...mail, to }), hasOutcome('permanent'))

      assert.equal(emails.length + sockets.size, 0)
    })
  }

  test('builds a Message-ID from the id and the sender’s domain', () => {
    assert.equal(buildMessageId('42', 'no-reply@mail.example.com'), '<42@mail.example.com>')
  })
})

function open(t: TestContext, port: number, change: Partial<MailTransportOptions> = {}) {
  const transport = createMailTransport(transportOptions(port, change))
  t.after(() => transport.close())
  return transport
}

function timeouts(change: Partial<MailTransportOptions['timeouts']>) {
  return { ...transportOptions(0).timeouts, ...change }
}

function hasOutcome(outcome: SendOutcome, code?: number) {
  return (error: unknown) => {
    assert.ok(error instanceof MailTransportError, String(error))
    assert.equal(error.outcome, outcome, error.message)
    assert.equal(error.responseCode, code)
    return true
  }
}

function reply(responseCode: number) {
  return Object.assign(new Error('not <ada@example.org>'), { responseCode })
}

function reject(code: number) {
  return (...args: unknown[]) => {
    const callback = args.at(-1)
    if (typeof callback === 'function') callback(reply(code))
  }
}

/** A server with as little SMTP as a test needs; without `onLine` it sends no greeting. */
async function startFake(t: TestContext, onLine?: (line: string, socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    if (onLine) socket.write('220 fake\r\n')
    let rest = ''
    socket.on('data', (chunk) => {
      const lines = (rest + chunk).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) onLine?.(line, socket)
    })
  })
  const port = await listen(server)
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port }
}

function sendLines(line: string, socket: Socket) {
  if (line === 'DATA') socket.write('354 go on\r\n')
  else if (/^(EHLO|MAIL|RCPT|RSET|QUIT)/.test(line)) socket.write('250 ok\r\n')
}
