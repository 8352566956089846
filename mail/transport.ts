/** Hands mails to an SMTP server over a few kept connections, and says exactly what became of each. */
import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
import { createTransport, type SMTPPoolOptions } from 'nodemailer'
import { headersFor, type MailHeaders } from './headers.ts'
import type { MailKind } from './kinds.ts'
import { classify, MailTransportError } from './transport-error.ts'

export interface MailTransportOptions {
  host: string
  /** 465 means TLS from the first byte; on any other port STARTTLS is used when offered. */
  port: number
  user?: string | undefined
  pass?: string | undefined
  /** Refuse to go on without TLS. Absent: refused when a password would go over the network in clear. */
  requireTls?: boolean | undefined
  /** PEM certificates to trust beside those of the system. */
  ca?: string | undefined
  /** What we call ourselves in EHLO. */
  ehloName: string
  from: { name: string; address: string }
  headers: MailHeaders
  maxConnections: number
  timeouts: MailTimeouts
}

/** Seconds. */
export interface MailTimeouts {
  connection: number
  greeting: number
  /** Silence on an open connection. */
  socket: number
  /** The whole of one mail. */
  total: number
}

export const defaultMailTimeouts: MailTimeouts = {
  connection: 10,
  greeting: 10,
  socket: 30,
  total: 60,
}

export interface OutgoingMail {
  kind: MailKind
  /** With angle brackets; see messageIdOf. Kept the same on every try, so that a double can be told. */
  messageId: string
  to: string
  date: Date
  subject: string
  html: string
  text: string
}

export interface SentMail {
  messageId: string
  /** What the server said when it took the mail; often its own id. */
  response: string
}

export interface MailTransport {
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
      if (data.signal) texts.set(data.signal, text)
      return text
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
        throw classify(error, texts.get(signal)?.readableDidRead ?? false)
      }
    },

    async verify() {
      try {
        await pool.verify()
      } catch (error) {
        throw classify(error, false)
      }
    },

    close() {
      pool.close()
    },
  }
}

/** A Message-ID (RFC 5322 section 3.6.4) of an id and the domain that sends. */
export function messageIdOf(id: string, fromAddress: string): string {
  return `<${id}@${fromAddress.slice(fromAddress.lastIndexOf('@') + 1)}>`
}

function poolOptions(options: MailTransportOptions): SMTPPoolOptions {
  const { host, port, user, pass, timeouts } = options
  const secure = port === 465
  return {
    host,
    port,
    secure,
    requireTLS: !secure && (options.requireTls ?? (Boolean(user) && !isLoopback(host))),
    tls: { minVersion: 'TLSv1.2', ...(options.ca ? { ca: options.ca } : {}) },
    name: options.ehloName,
    ...(user ? { auth: { user, pass: pass ?? '' } } : {}),
    maxConnections: options.maxConnections,
    idleTimeout: 30_000,
    // Only for a kept connection that turns out to be dead before any of the text was sent.
    maxRequeues: 1,
    connectionTimeout: timeouts.connection * 1000,
    dnsTimeout: timeouts.connection * 1000,
    greetingTimeout: timeouts.greeting * 1000,
    socketTimeout: timeouts.socket * 1000,
    socketCloseTimeout: 1000,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
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
      // RFC 3834: nobody's holiday notice needs to answer this.
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

function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}
