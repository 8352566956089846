/** Sends mails to an SMTP server over a pool of connections, and reports the outcome of each. */
import { Readable } from 'node:stream'

import { createTransport } from 'nodemailer'

import { headersFor } from './headers.ts'
import type { MailKind } from './kinds.ts'
import { type MailTransportOptions, poolOptions } from './smtp-options.ts'
import { classify, MailTransportError } from './transport-error.ts'

export interface OutgoingMail {
  kind: MailKind
  /** With angle brackets; see messageIdOf. Kept the same on every try, so that a duplicate can be recognised. */
  messageId: string
  to: string
  date: Date
  subject: string
  html: string
  text: string
}

interface SentMail {
  messageId: string
  /** What the server said when it took the mail; often its own id. */
  response: string
}

interface MailTransport {
  /** Throws a MailTransportError. */
  send(mail: OutgoingMail): Promise<SentMail>
  /** Connects and signs in, sends nothing. Throws a MailTransportError. */
  verify(): Promise<void>
  /** Lets the mails under way finish and takes no more. */
  close(): void
}

export function createMailTransport(options: MailTransportOptions): MailTransport {
  const pool = createTransport({ pool: true, ...poolOptions(options) })
  // The text of a mail under way, by the signal that is its only object we share with nodemailer.
  const texts = new WeakMap<AbortSignal, Readable>()
  pool.use('stream', ({ data, message }, done) => {
    message?.processFunc((text: Readable) => {
      const whole = Readable.from(inOnePiece(text), { objectMode: false })
      if (data.signal) texts.set(data.signal, whole)
      return whole
    })
    done()
  })

  return {
    async send(mail) {
      checkRecipient(mail.to)
      const signal = AbortSignal.timeout(options.timeouts.total * 1000)
      try {
        const { response } = await pool.sendMail({ ...compose(mail, options), signal })
        return { messageId: mail.messageId, response }
      } catch (error) {
        // The text is first read when the server has said it is ready for it.
        throw classify(error, { isTextSent: texts.get(signal)?.readableDidRead ?? false })
      }
    },

    async verify() {
      try {
        await pool.verify()
      } catch (error) {
        throw classify(error, { isTextSent: false })
      }
    },

    close() {
      pool.close()
    },
  }
}

/** A mail is small: one write to the socket in the place of one for each of its parts. */
async function* inOnePiece(text: Readable): AsyncGenerator<Buffer> {
  yield Buffer.concat(await Array.fromAsync<Buffer>(text))
}

/** A Message-ID (RFC 5322 section 3.6.4) of an id and the domain that sends. */
export function messageIdOf(id: string, fromAddress: string): string {
  return `<${id}@${fromAddress.slice(fromAddress.lastIndexOf('@') + 1)}>`
}

function compose(mail: OutgoingMail, { from, headers }: MailTransportOptions) {
  return {
    from,
    to: { name: '', address: mail.to },
    envelope: { from: from.address, to: [mail.to] },
    subject: mail.subject,
    date: mail.date,
    messageId: mail.messageId,
    html: mail.html,
    text: mail.text,
    textEncoding: 'quoted-printable' as const,
    headers: [
      // RFC 3834: automatic replies do not answer such a mail.
      { key: 'Auto-Submitted', value: 'auto-generated' },
      ...headersFor(mail.kind, headers),
    ],
  }
}

/** Addresses arrive validated; this makes sure that one can never become two, or a header. */
function checkRecipient(address: string) {
  if (/^[^\s\p{Cc}<>()[\]\\,;:"@]+@[^\s\p{Cc}<>()\\,;"@]+$/u.test(address)) return
  throw new MailTransportError('permanent', 'the recipient is not an email address')
}
