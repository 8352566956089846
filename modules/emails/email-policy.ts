/** Which addresses may get emails, by the configuration only, independent of users. */
import type { FastifyInstance } from 'fastify'

import { emailAddressNotAuthorized, mailNotConfigured } from '../../schemas/errors.ts'

export interface EmailPolicy {
  /** Whether there is a mail server. */
  configured: boolean
  /** Without subaddresses. Empty: all addresses. */
  authorized: ReadonlySet<string>
}

export function emailPolicy({
  config,
  mailer,
}: Pick<FastifyInstance, 'config' | 'mailer'>): EmailPolicy {
  const authorized = config.AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES.map(withoutLabel)
  return { configured: mailer.configured, authorized: new Set(authorized) }
}

/** Throws email_provider_not_configured. */
export function requireMail(policy: EmailPolicy): void {
  if (!policy.configured) throw mailNotConfigured()
}

/** Throws email_provider_not_configured or email_address_not_authorized. */
export function checkRecipient(policy: EmailPolicy, address: string): void {
  requireMail(policy)
  if (!isAuthorized(policy, address)) throw emailAddressNotAuthorized(address)
}

export function mayReceive(policy: EmailPolicy, address: string): boolean {
  return policy.configured && isAuthorized(policy, address)
}

function isAuthorized({ authorized }: EmailPolicy, address: string): boolean {
  return authorized.size === 0 || authorized.has(withoutLabel(address))
}

/** `ann+news@example.com` is the mailbox of `ann@example.com`. */
function withoutLabel(address: string): string {
  return address.toLowerCase().replace(/\+[^@]*(?=@)/, '')
}
