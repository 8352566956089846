/** The options of the connection to the mail server. */
import { isIP } from 'node:net'

import type { SMTPPoolOptions } from 'nodemailer'

import { conversationLogger, type Hear } from './conversation.ts'
import type { MailHeaders } from './headers.ts'

/**
 * - auto: from the first byte on port 465, else STARTTLS when offered. It must be offered when a password would
 *   otherwise go over the network in clear.
 * - implicit: from the first byte, on any port.
 * - starttls: STARTTLS or nothing.
 * - none: in clear, whatever is offered.
 */
type SmtpTls = 'auto' | 'implicit' | 'starttls' | 'none'

export interface MailTransportOptions {
  host: string
  port: number
  /** Absent: auto. */
  tls?: SmtpTls | undefined
  user?: string | undefined
  pass?: string | undefined
  /** PEM certificates to trust beside those of the system. */
  ca?: string | undefined
  /** What we call ourselves in EHLO. */
  ehloName: string
  from: { name: string; address: string }
  headers: MailHeaders
  maxConnections: number
  timeouts: MailTimeouts
  /** Hears what is said; nobody does when absent. */
  hear?: Hear | undefined
}

/** Seconds. */
interface MailTimeouts {
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

/** What a server at this URL calls itself in EHLO: its host name, or an address literal (RFC 5321 section 4.1.3). */
export function ehloNameOf(url: string): string {
  const { hostname } = new URL(url)
  if (isIP(hostname) === 4) return `[${hostname}]`
  return hostname.replace(/^\[/, '[IPv6:')
}

/** The same in nodemailer's form. */
export function poolOptions(options: MailTransportOptions): SMTPPoolOptions {
  const { host, port, user, pass, timeouts, hear } = options
  return {
    host,
    port,
    ...encryption(options),
    tls: { minVersion: 'TLSv1.2', ...(options.ca ? { ca: options.ca } : {}) },
    name: options.ehloName,
    ...(user ? { auth: { user, pass: pass ?? '' } } : {}),
    maxConnections: options.maxConnections,
    idleTimeout: 30_000,
    // Only for a pooled connection that turns out to be closed before any of the text was sent.
    maxRequeues: 1,
    connectionTimeout: timeouts.connection * 1000,
    dnsTimeout: timeouts.connection * 1000,
    greetingTimeout: timeouts.greeting * 1000,
    socketTimeout: timeouts.socket * 1000,
    socketCloseTimeout: 1000,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(hear && { transactionLog: true, logger: conversationLogger(hear, [pass ?? '']) }),
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
