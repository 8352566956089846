/** The SAML identity of a provisioned user follows the userName and the address. */
import type { Trx } from '../../db/core/database.ts'
import { findIdentity } from '../../db/identities/identities.ts'
import { moveProviderIdentity } from '../../db/scim/access.ts'
import { recomputeProviders } from '../../db/users/providers.ts'
import { uniqueness } from './accounts.ts'
import { type AccountClaims, toScimIdentities } from './claims.ts'
import type { ProvisioningRequest } from './membership.ts'
import { rejectingTaken } from './written.ts'

/**
 * The NameID at the provider is the userName: with another one, or another address, the user signs in to the same
 * account, and a new user who gets the earlier ones does not. Throws uniqueness.
 */
export async function followIdentity(
  trx: Trx,
  userId: string,
  { before, after }: Record<'before' | 'after', AccountClaims>,
  { connection, now }: ProvisioningRequest,
): Promise<void> {
  const isSame = before.userName === after.userName && before.email === after.email
  const [identity] = toScimIdentities(connection, after, userId, true)
  if (!connection.has_saml || isSame || !identity) return
  const { provider, provider_id: name, identity_data: data } = identity
  const from = { userId, provider, name: before.userName }
  if (from.name !== name) await rejectOtherUser(trx, from, name)
  await rejectingTaken(() => moveProviderIdentity(trx, from, { name, data }, now))
  await recomputeProviders(trx, userId, now)
}

/** Another account has the name without a provisioned user: its user signed in before. */
async function rejectOtherUser(
  trx: Trx,
  { userId, provider }: { userId: string; provider: string },
  name: string,
): Promise<void> {
  const found = await findIdentity(trx, provider, name)
  if (!found || found.user_id === userId) return
  throw uniqueness('Another account signs in at the provider with this userName')
}
