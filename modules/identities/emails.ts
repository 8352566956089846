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
  const primary = storable(claims.email) ?? null
  return {
    primary,
    reported: [...(primary ? [primary] : []), ...storables(emails)],
    verified: storables(emails.filter(({ verified }) => verified)),
  }
}

function storables(emails: ProviderIdentity['emails']): string[] {
  const read = emails.map(({ email }) => storable(email))
  return [...new Set(read.filter((email) => email !== undefined))]
}

function storable(email: unknown): string | undefined {
  try {
    return typeof email === 'string' ? normalizeEmail(email) : undefined
  } catch {
    return undefined
  }
}
