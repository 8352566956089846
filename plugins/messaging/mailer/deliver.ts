/** Delivers rendered emails: to the operator's mail server, and in development to the inbox page. */
import type { Config } from '../../../config/groups/index.ts'
import { linksIn } from '../../../mail/links.ts'
import {
  defaultMailTimeouts,
  type MailTransportOptions,
  toEhloName,
} from '../../../mail/smtp-options.ts'
import { createMailTransport, type OutgoingMail } from '../../../mail/transport.ts'
import type { Tracing } from '../../observability/telemetry/tracing.ts'
import type { DevInbox } from '../dev-inbox.ts'

export interface EmailDelivery extends OutgoingMail {
  /** The one-time code, for kinds that have one. */
  code: string | null
  /** Errors in templates. */
  problems: string[]
}

/** Resolves to the mail server's response. Throws MailTransportError. */
export type DeliverEmail = (mail: EmailDelivery) => Promise<string>

interface SmtpDelivery {
  deliver: DeliverEmail
  close(): void
}

/** How to reach the operator's mail server; undefined when none is configured. */
export function smtpOptions(config: Config): MailTransportOptions | undefined {
  const { AUTH_SMTP_HOST: host, AUTH_SMTP_ADMIN_EMAIL: address } = config
  if (!host || !address) return undefined
  return {
    host,
    port: config.AUTH_SMTP_PORT,
    user: config.AUTH_SMTP_USER,
    pass: config.AUTH_SMTP_PASS,
    tls: config.AUTH_SMTP_TLS,
    ehloName: toEhloName(config.AUTH_API_EXTERNAL_URL),
    from: { name: config.AUTH_SMTP_SENDER_NAME ?? address, address },
    headers: config.AUTH_SMTP_HEADERS,
    // The maximum sent concurrently: four first attempts and two of the job queue.
    maxConnections: 6,
    timeouts: defaultMailTimeouts,
  }
}

/** Undefined when no mail server is configured. */
export function createSmtpDelivery(config: Config): SmtpDelivery | undefined {
  const options = smtpOptions(config)
  if (!options) return undefined
  const transport = createMailTransport(options)
  const deliver: DeliverEmail = async ({ code: _, problems: __, ...mail }) =>
    (await transport.send(mail)).response
  return { deliver, close: transport.close }
}

export function tracedDelivery(
  deliver: DeliverEmail | undefined,
  { span }: Pick<Tracing, 'span'>,
): DeliverEmail | undefined {
  return deliver && ((mail) => span('send mail', { 'mail.kind': mail.kind }, () => deliver(mail)))
}

/** Undefined without a destination. An email that the mail server rejects does not appear in the inbox either. */
export function createEmailDelivery(
  smtp: SmtpDelivery | undefined,
  inbox: DevInbox | undefined,
): DeliverEmail | undefined {
  if (inbox === undefined) return smtp?.deliver
  return async (mail) => {
    const response = smtp ? await smtp.deliver(mail) : 'kept in the development inbox'
    const { to, subject, text, html, problems } = mail
    // Only a code that the rendered email contains; a custom template may not use it.
    const code = mail.code !== null && text.includes(mail.code) ? mail.code : null
    const read = { links: linksIn(html), code, problems }
    inbox.add({ channel: 'email', to, subject, text, html, ...read }, new Date())
    return response
  }
}
