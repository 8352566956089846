import type { Trx } from '../../../db/database.ts'
import { type IdentityRow, insertIdentity } from '../../../db/identities.ts'
import type { ExternalPerson } from '../external-sign-ins.ts'

export const linkedElsewhere = 'Identity is already linked to another user'

export function addIdentity(
  trx: Trx,
  userId: string,
  { provider, identity }: ExternalPerson,
  now: Date,
): Promise<IdentityRow> {
  const { providerId: provider_id, claims } = identity
  return insertIdentity(trx, { user_id: userId, provider, provider_id, identity_data: claims }, now)
}

/** What the audit trail says of an identity. */
export function traitsOf(identity: Pick<IdentityRow, 'id' | 'provider' | 'provider_id'>) {
  const { id, provider, provider_id } = identity
  return { identity_id: id, provider, provider_id }
}
