/** Options of the SMTP connection, and the headers of every email. */
import { isIP } from 'node:net'
import { format } from 'node:util'

import type { SMTPPoolOptions } from 'nodemailer'

import { type EmailKind, emailKindDefinitions } from './kinds/index.ts'

/**
 * - auto: implicit TLS on port 465, otherwise STARTTLS when offered. With a password to another machine, STARTTLS must
 *   be offered.
 * - implicit: implicit TLS on any port.
 * - starttls: STARTTLS or no connection.
 * - none: plain text, whatever the server offers.
 */
type SmtpTls = 'auto' | 'implicit' | 'starttls' | 'none'

export interface MailTransportOptions {
  host: string
  port: number
  /** Absent: auto. */
  tls?: SmtpTls | undefined
  user?: string | undefined
  pass?: string | undefined
  /** PEM certificates to trust in addition to the system's. */
  ca?: string | undefined
  /** The name of this server in EHLO. */
  ehloName: string
  from: { name: string; address: string }
  headers: MailHeaders
  maxConnections: number
  timeouts: MailTimeouts
  /** Receives the SMTP transcript, if given. */
  onTranscriptLine?: OnTranscriptLine | undefined
}

/** In seconds. */
interface MailTimeouts {
  connection: number
  greeting: number
  /** Inactivity on an open connection. */
  socket: number
  /** The whole delivery of one email. */
  total: number
}

export const defaultMailTimeouts: MailTimeouts = {
  connection: 10,
  greeting: 10,
  socket: 30,
  total: 60,
}

/** Custom headers of every email (AUTH_SMTP_HEADERS). */
type MailHeaders = Record<string, string[]>

/** Returns the headers of one email, with `$messageType` replaced. */
export function headersFor(
  kind: EmailKind,
  headers: MailHeaders,
): { key: string; value: string }[] {
  const { messageType } = emailKindDefinitions[kind]
  return Object.entries(headers).flatMap(([key, values]) =>
    values.map((value) => ({ key, value: value.replaceAll('$messageType', messageType) })),
  )
}

/** The EHLO name of a server at this URL: its host name, or an address literal (RFC 5321 §4.1.3). */
export function toEhloName(url: string): string {
  const { hostname } = new URL(url)
  if (isIP(hostname) === 4) return `[${hostname}]`
  return hostname.replace(/^\[/, '[IPv6:')
}

/** The options in nodemailer's form. */
export function poolOptions(options: MailTransportOptions): SMTPPoolOptions {
  const { host, port, user, pass, timeouts, onTranscriptLine } = options
  return {
    host,
    port,
    ...encryption(options),
    tls: { minVersion: 'TLSv1.2', ...(options.ca ? { ca: options.ca } : {}) },
    name: options.ehloName,
    ...(user ? { auth: { user, pass: pass ?? '' } } : {}),
    maxConnections: options.maxConnections,
    idleTimeout: 30_000,
    // Applies only when a pooled connection was closed before any of the message was sent.
    maxRequeues: 1,
    connectionTimeout: timeouts.connection * 1000,
    dnsTimeout: timeouts.connection * 1000,
    greetingTimeout: timeouts.greeting * 1000,
    socketTimeout: timeouts.socket * 1000,
    socketCloseTimeout: 1000,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(onTranscriptLine && {
      transactionLog: true,
      logger: smtpTranscriptLogger(onTranscriptLine, [pass ?? '']),
    }),
  }
}

function encryption({ host, port, user, tls = 'auto' }: MailTransportOptions) {
  const secure = tls === 'implicit' || (tls === 'auto' && port === 465)
  const exposed = tls === 'auto' && Boolean(user) && !isLoopback(host)
  return {
    secure,
    requireTLS: !secure && (tls === 'starttls' || exposed),
    ignoreTLS: tls === 'none',
  }
}

function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}

// The SMTP transcript line by line, without secrets, for operators.

/** Receives a line: `C:` of the client, `S:` of the server, `*` of the connection. */
type OnTranscriptLine = (line: string) => void

/** The sources of relevant lines; the pool logs internal ones too. */
const speakers = new Map([
  ['client', 'C:'],
  ['server', 'S:'],
  ['smtp', '*'],
  ['network', '*'],
])

/** nodemailer writes this in place of a secret, plain or inside base64. */
const placeholder = '/* secret */'

const hidden = '(not shown)'

/** A logger for nodemailer's `transactionLog` that removes secrets from every line. */
function smtpTranscriptLogger(onLine: OnTranscriptLine, secrets: readonly string[]) {
  const forms = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, Buffer.from(secret).toString('base64')])

  function logLine(entry: unknown, message?: unknown, ...args: unknown[]): void {
    const { tnx }: { tnx?: unknown } = Object(entry)
    const speaker = speakers.get(String(tnx))
    if (speaker === undefined) return
    for (const line of format(message, ...args).split(/\r?\n/)) {
      onLine(`${speaker} ${without(line)}`)
    }
  }

  function without(line: string): string {
    const sign = /^(AUTH \S+) \S/.exec(line)
    if (sign) return `${sign[1]} ${hidden}`
    if ([line, Buffer.from(line, 'base64').toString()].some((text) => text.includes(placeholder))) {
      return hidden
    }
    return forms.reduce((text, form) => text.replaceAll(form, hidden), line)
  }

  return {
    trace: logLine,
    debug: logLine,
    info: logLine,
    warn: logLine,
    error: logLine,
    fatal: logLine,
  }
}
