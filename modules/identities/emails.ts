/** The emails reported by a provider, and those that it verified. */
import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import { normalizeEmail } from '../../schemas/fields.ts'

export interface AccountEmails {
  /** The email of a new account. */
  primary: string | null
  /** All of them, verified or not; not used for matching. */
  reported: string[]
  /** Secondary ones too: each verified email identifies the user. */
  verified: string[]
}

export function readAddresses({ claims, emails }: ProviderIdentity): AccountEmails {
  const primary = toStoredAddress(claims.email) ?? null
  return {
    primary,
    reported: [...(primary ? [primary] : []), ...storables(emails)],
    verified: storables(emails.filter(({ verified }) => verified)),
  }
}

/** The primary address, verified or not, in its stored form. */
export const readAssertedAddress = (identity: ProviderIdentity): string | null =>
  readAddresses(identity).primary

function storables(emails: ProviderIdentity['emails']): string[] {
  const read = emails.map(({ email }) => toStoredAddress(email))
  return [...new Set(read.filter((email) => email !== undefined))]
}

/** Undefined for what is no address. */
export function toStoredAddress(email: unknown): string | undefined {
  try {
    return typeof email === 'string' ? normalizeEmail(email) : undefined
  } catch {
    return undefined
  }
}
