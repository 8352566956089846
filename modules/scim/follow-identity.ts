/** The SAML identity of a provisioned user follows the userName and the address. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { findIdentity } from '../../db/identities/identities.ts'
import { moveProviderIdentity } from '../../db/scim/access.ts'
import { recomputeProviders } from '../../db/users/update-user.ts'
import { findUser } from '../../db/users/users.ts'
import { isAccountOfTenant, nameIdTaken, rejectIfTaken, uniqueness } from './accounts.ts'
import { type AccountClaims, toScimIdentities } from './claims.ts'
import { recordLink } from './link-account.ts'
import type { ProvisioningRequest } from './membership.ts'

/**
 * The NameID at the provider is the userName: with another one, or another address, the user signs in to the same
 * account, and a new user who gets the earlier ones does not. The identity of a linked account has no other address
 * than the account. Throws uniqueness.
 */
export async function followIdentity(
  app: FastifyInstance,
  trx: Trx,
  userId: string,
  { before, after }: Record<'before' | 'after', AccountClaims>,
  request: ProvisioningRequest,
): Promise<void> {
  const { connection, now } = request
  const isSame = before.userName === after.userName && before.email === after.email
  if (!connection.has_saml || isSame) return
  const user = await findUser(trx, userId)
  if (!user || !(await isAccountOfTenant(app, trx, connection, user))) return
  const isOwnAddress = user.is_sso_user || after.email === user.email
  const claims = isOwnAddress ? after : { ...after, email: null }
  const [identity] = toScimIdentities(connection, claims, userId, true)
  if (!identity) return
  const { provider, provider_id: name, identity_data: data } = identity
  const from = { userId, provider, name: before.userName }
  if (from.name !== name) await rejectOtherUser(trx, from, name)
  await rejectIfTaken(nameIdTaken, () => moveProviderIdentity(trx, from, { name, data }, now))
  await recomputeProviders(trx, userId, now)
  const moved = from.name !== name ? await findIdentity(trx, provider, name) : undefined
  if (moved && !user.is_sso_user) await recordLink(app, trx, request, user, moved)
}

/** Another account has the name without a provisioned user: its user signed in before. */
async function rejectOtherUser(
  trx: Trx,
  { userId, provider }: { userId: string; provider: string },
  name: string,
): Promise<void> {
  const found = await findIdentity(trx, provider, name)
  if (!found || found.user_id === userId) return
  throw uniqueness(nameIdTaken)
}
