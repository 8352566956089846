import type { IdentityJson } from '../../db/tables/identities.ts'

export interface Promotion {
  email: string | null
  verified: boolean
}

/**
 * Candidates for the account's email after an unlink, best first: verified ones, others, none; the oldest identity
 * first. The email in the data of a phone identity is only the user's claim.
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
