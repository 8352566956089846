/** The addresses a provider told, as far as they can be stored, and which of them it has proven. */
import { normalizeEmail } from '../../../schemas/fields.ts'
import type { Identity } from '../../oauth-providers.ts'

export interface Addresses {
  /** The one the account is made with. */
  primary: string | null
  /** All of them, proven or not: they say nothing about who somebody is. */
  told: string[]
  /** Also secondary ones: whoever proves one of a person's addresses is that person. */
  verified: string[]
}

export function readAddresses({ claims, emails }: Identity): Addresses {
  const primary = storable(claims.email) ?? null
  return {
    primary,
    told: [...(primary ? [primary] : []), ...storables(emails)],
    verified: storables(emails.filter(({ verified }) => verified)),
  }
}

function storables(emails: Identity['emails']): string[] {
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
