import type { Trx } from '../../db/core/database.ts'
import { insertIdentity, type NewIdentity } from '../../db/identities/identities.ts'
import type { IdentityRow } from '../../db/tables/identities.ts'
import type { ExternalUser } from './types.ts'

export const linkedToOtherUser = 'Identity is already linked to another user'

/** The columns of an identity. */
export function toExternalIdentity({
  provider,
  identity,
}: ExternalUser): Omit<NewIdentity, 'user_id'> {
  return { provider, provider_id: identity.providerId, identity_data: identity.claims }
}

export function addIdentity(
  trx: Trx,
  userId: string,
  user: ExternalUser,
  now: Date,
): Promise<IdentityRow> {
  return insertIdentity(trx, { ...toExternalIdentity(user), user_id: userId }, now)
}
