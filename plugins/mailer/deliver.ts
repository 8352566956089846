/** Where finished mail goes: the operator's mail server, and in development the inbox on a page. */
import {
  defaultMailTimeouts,
  ehloNameOf,
  type MailTransportOptions,
} from '../../mail/smtp-options.ts'
import { createMailTransport, type OutgoingMail } from '../../mail/transport.ts'
import type { Config } from '../config/config.ts'
import type { DevInbox } from '../dev-inbox.ts'
import type { Tracing } from '../telemetry/tracing.ts'

export interface Delivery extends OutgoingMail {
  /** The confirmation link, when the kind has one. */
  links: string[]
  /** The code to be typed, when the kind has one. */
  code: string | null
}

/** Resolves to what the server said. Throws MailTransportError. */
export type Deliver = (mail: Delivery) => Promise<string>

export interface SmtpDelivery {
  deliver: Deliver
  close(): void
}

/** How the operator's mail server is reached; undefined when none is configured. */
export function smtpOptions(config: Config): MailTransportOptions | undefined {
  const { AUTH_SMTP_HOST: host, AUTH_SMTP_ADMIN_EMAIL: address } = config
  if (!host || !address) return undefined
  return {
    host,
    port: config.AUTH_SMTP_PORT,
    user: config.AUTH_SMTP_USER,
    pass: config.AUTH_SMTP_PASS,
    tls: config.AUTH_SMTP_TLS,
    ehloName: ehloNameOf(config.AUTH_API_EXTERNAL_URL),
    from: { name: config.AUTH_SMTP_SENDER_NAME ?? address, address },
    headers: config.AUTH_SMTP_HEADERS,
    // As many as are sent at a time: two first attempts, two of the job queue.
    maxConnections: 4,
    timeouts: defaultMailTimeouts,
  }
}

/** Undefined when no mail server is configured. */
export function createSmtpDelivery(config: Config): SmtpDelivery | undefined {
  const options = smtpOptions(config)
  if (!options) return undefined
  const transport = createMailTransport(options)
  const deliver: Deliver = async ({ links: _, code: __, ...mail }) =>
    (await transport.send(mail)).response
  return { deliver, close: transport.close }
}

export function tracedDelivery(
  deliver: Deliver | undefined,
  { span }: Pick<Tracing, 'span'>,
): Deliver | undefined {
  return deliver && ((mail) => span('send mail', { 'mail.kind': mail.kind }, () => deliver(mail)))
}

/** Undefined when there is nowhere to deliver to. What a mail server refuses is not in the inbox either. */
export function deliveryOf(
  smtp: SmtpDelivery | undefined,
  inbox: DevInbox | undefined,
): Deliver | undefined {
  if (inbox === undefined) return smtp?.deliver
  return async (mail) => {
    const response = smtp ? await smtp.deliver(mail) : 'kept in the development inbox'
    const { to, subject, text, html, links, code } = mail
    inbox.add({ channel: 'email', to, subject, text, html, links, code }, new Date())
    return response
  }
}
