/** Sends emails to an SMTP server over a connection pool. */
import { Readable } from 'node:stream'

import { createTransport } from 'nodemailer'
import type MimeNode from 'nodemailer/lib/mime-node'
import { encode, wrap } from 'nodemailer/lib/qp'

import type { EmailKind } from './kinds/index.ts'
import { headersFor, type MailTransportOptions, poolOptions } from './smtp-options.ts'
import { classify, MailTransportError } from './transport-error.ts'

export interface OutgoingMail {
  kind: EmailKind
  /** With angle brackets; see buildMessageId. The same on every attempt, so that duplicates can be recognized. */
  messageId: string
  to: string
  date: Date
  subject: string
  html: string
  text: string
}

interface SentMail {
  messageId: string
  /** The server's reply to an accepted email, often with its own id. */
  response: string
}

interface MailTransport {
  /** Throws a MailTransportError. */
  send(mail: OutgoingMail): Promise<SentMail>
  /** Connects and authenticates without sending. Throws a MailTransportError. */
  verify(): Promise<void>
  /** Waits for emails in progress and accepts no more. */
  close(): void
}

export function createMailTransport(options: MailTransportOptions): MailTransport {
  const pool = createTransport({ pool: true, ...poolOptions(options) })
  // Message streams by abort signal, the only object shared with nodemailer.
  const texts = new WeakMap<AbortSignal, Readable>()
  pool.use('stream', ({ data, message }, done) => {
    if (message) {
      message.createReadStream = () => {
        const text = Readable.from(toMessageText(message), { objectMode: false })
        if (data.signal) texts.set(data.signal, text)
        return text
      }
    }
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
        // The message is read after the server has requested it.
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

/** Builds a Message-ID (RFC 5322 §3.6.4) from an id and the domain of the sender. */
export function buildMessageId(id: string, fromAddress: string): string {
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
      // RFC 3834: prevents automatic replies.
      { key: 'Auto-Submitted', value: 'auto-generated' },
      ...headersFor(mail.kind, headers),
    ],
  }
}

/** Addresses are validated before; this ensures that one cannot become two, or a header. */
function checkRecipient(address: string) {
  if (/^[^\s\p{Cc}<>()[\]\\,;:"@]+@[^\s\p{Cc}<>()\\,;"@]+$/u.test(address)) return
  throw new MailTransportError('permanent', 'the recipient is not an email address')
}

// The text of a message (RFC 5322), from the parts that nodemailer made.

/**
 * Returns a message, or one of its parts (RFC 2046 §5.1). Their content is text. nodemailer's own function is a chain of
 * streams that costs nearly as much as the rest of a delivery.
 */
function toMessageText(part: MimeNode): string {
  const headers = `${part.buildHeaders()}\r\n\r\n`
  if (!part.multipart) return headers + toContent(part)
  const { boundary } = part
  const parts = part.childNodes.map((child) => `--${boundary}\r\n${toMessageText(child)}\r\n`)
  return `${headers}${parts.join('')}--${boundary}--\r\n`
}

function toContent(part: MimeNode): string {
  const text = typeof part.content === 'string' ? part.content : ''
  return part.getTransferEncoding() === 'quoted-printable' ? wrap(encode(text)) : text
}
