import type { Trx } from '../../../db/database.ts'
import { type IdentityRow, insertIdentity, type NewIdentity } from '../../../db/identities.ts'
import type { OauthPerson } from './oauth-sign-in.ts'

export const linkedElsewhere = 'Identity is already linked to another user'

/** What is stored of it. */
export function identityOf({ provider, identity }: OauthPerson): Omit<NewIdentity, 'user_id'> {
  return { provider, provider_id: identity.providerId, identity_data: identity.claims }
}

export function addIdentity(
  trx: Trx,
  userId: string,
  person: OauthPerson,
  now: Date,
): Promise<IdentityRow> {
  return insertIdentity(trx, { ...identityOf(person), user_id: userId }, now)
}

/** What the audit trail says of an identity. */
export function traitsOf(identity: Pick<IdentityRow, 'id' | 'provider' | 'provider_id'>) {
  const { id, provider, provider_id } = identity
  return { identity_id: id, provider, provider_id }
}
