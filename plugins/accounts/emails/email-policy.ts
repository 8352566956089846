/** To which addresses this server may write at all; the answer depends on its settings, never on who exists. */
import { emailAddressNotAuthorized, mailNotConfigured } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'

export interface EmailPolicy {
  /** Whether there is a mail server. */
  configured: boolean
  /** Without their labels. Empty: everybody. */
  authorized: ReadonlySet<string>
}

export function emailPolicy({ config, mailer }: House<'config' | 'mailer'>): EmailPolicy {
  const authorized = config.AUTH_EXTERNAL_EMAIL_AUTHORIZED_ADDRESSES.map(withoutLabel)
  return { configured: mailer.configured, authorized: new Set(authorized) }
}

/** Throws email_provider_not_configured or email_address_not_authorized. */
export function checkRecipient(policy: EmailPolicy, address: string): void {
  if (!policy.configured) throw mailNotConfigured()
  if (!isAuthorized(policy, address)) throw emailAddressNotAuthorized(address)
}

export function mayReceive(policy: EmailPolicy, address: string): boolean {
  return policy.configured && isAuthorized(policy, address)
}

function isAuthorized({ authorized }: EmailPolicy, address: string): boolean {
  return authorized.size === 0 || authorized.has(withoutLabel(address))
}

/** `ann+news@example.com` is Ann's mailbox. */
function withoutLabel(address: string): string {
  return address.toLowerCase().replace(/\+[^@]*(?=@)/, '')
}
