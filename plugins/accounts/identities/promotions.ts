import type { IdentityJson } from '../../../db/identities.ts'

export interface Promotion {
  email: string | null
  verified: boolean
}

/**
 * Addresses that may become the account's, best first: proven ones, others, none; the oldest identity first. What a
 * phone's identity says of an address is nobody's word but the person's.
 */
export function promotions(identities: readonly IdentityJson[]): Promotion[] {
  const candidates = identities.map(({ provider, email, identity_data }) =>
    provider === 'phone' || !email
      ? { email: null, verified: false }
      : { email, verified: identity_data.email_verified === true },
  )
  return candidates.toSorted((left, right) => rank(left) - rank(right))
}

function rank({ email, verified }: Promotion): number {
  if (email === null) return 2
  return verified ? 0 : 1
}
