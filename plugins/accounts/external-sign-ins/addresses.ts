/** The addresses a provider told, as far as they can be stored, and which of them it has proven. */
import { normalizeEmail } from '../../../schemas/fields.ts'
import type { Identity } from '../../oauth-providers.ts'

export interface Addresses {
  /** The one the account is made with. */
  primary: string | null
  /** Also secondary ones: whoever proves one of a person's addresses is that person. */
  verified: string[]
}

/** `trusted`: addresses count as proven without anybody's proof (autoconfirm). */
export function readAddresses({ claims, emails }: Identity, trusted: boolean): Addresses {
  const verified = emails
    .filter((entry) => trusted || entry.verified)
    .map(({ email }) => storable(email))
  return {
    primary: storable(claims.email) ?? null,
    verified: [...new Set(verified.filter((email) => email !== undefined))],
  }
}

function storable(email: unknown): string | undefined {
  try {
    return typeof email === 'string' ? normalizeEmail(email) : undefined
  } catch {
    return undefined
  }
}
