import type { IdentityJson } from '../../../db/identities.ts'

export interface Promotion {
  email: string | null
  verified: boolean
}

/** Addresses that may become the account's, best first: proven ones, others, none; the oldest identity first. */
export function promotions(identities: readonly IdentityJson[]): Promotion[] {
  const candidates = identities.map(({ email, identity_data }) => ({
    email: email || null,
    verified: email !== null && identity_data.email_verified === true,
  }))
  return candidates.toSorted((left, right) => rank(left) - rank(right))
}

function rank({ email, verified }: Promotion): number {
  if (email === null) return 2
  return verified ? 0 : 1
}
