import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { createTransport } from 'nodemailer'

import { createMailTransport } from '../../mail/transport.ts'
import { startSmtp, transportOptions } from './smtp.ts'

const texts = {
  'non-ASCII characters': 'Grüße, 日本語 und 👩‍👩‍👧',
  'long lines': `${'word '.repeat(60)}\n${'x'.repeat(300)}\n${'é'.repeat(200)}`,
  'lines that begin with a dot': '.\n..\n.a\r\n.\r\nQUIT\r\n',
  'spaces at the ends of lines': 'a \nb\t\r\nc ',
  'both kinds of line breaks': 'a\nb\r\nc\n\n',
  'equals signs': 'https://example.com/?a=1&b==2=',
  'an HTML part only': '',
  'a line like a boundary': '----_NmP-1-Part_1--\n--\n',
}

suite('text of a message', () => {
  for (const [name, text] of Object.entries(texts)) {
    test(`is the same as composed by nodemailer for ${name}`, async (t) => {
      const { port, emails } = await startSmtp(t)
      const options = transportOptions(port, { headers: { 'X-Long': ['ü'.repeat(100)] } })
      const transport = createMailTransport(options)
      t.after(() => transport.close())
      const mail = {
        messageId: '<1@example.com>',
        date: new Date('2026-03-04T05:06:07Z'),
        subject: `Grüße ${'long subject '.repeat(10)}`,
        html: `<p>${text}</p>`,
        text,
      }

      await transport.send({ ...mail, kind: 'recovery', to: 'ada@example.org' })

      const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
      const { message } = await composer.sendMail({
        ...mail,
        from: options.from,
        to: { name: '', address: 'ada@example.org' },
        textEncoding: 'quoted-printable',
        headers: { 'Auto-Submitted': 'auto-generated', 'X-Long': 'ü'.repeat(100) },
      })
      assert.equal(withoutBoundary(String(emails[0]?.raw)), withoutBoundary(String(message)))
    })
  }
})

/** A boundary is random. */
function withoutBoundary(raw: string): string {
  const boundary = /boundary="([^"]+)"/.exec(raw)?.[1]
  return boundary ? raw.replaceAll(boundary, 'BOUNDARY') : raw
}
