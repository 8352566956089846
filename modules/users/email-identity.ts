/** The email identity of an account that has got its first password. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { insertIdentity } from '../../db/identities/identities.ts'
import { isAutoconfirmed } from '../../db/users/autoconfirmed-addresses.ts'
import { recomputeProviders } from '../../db/users/update-user.ts'
import { findUser } from '../../db/users/users.ts'

/**
 * Adds the missing identity where AUTH_EXPERIMENTAL_CREATE_EMAIL_IDENTITY_ON_PASSWORD_SET_ENABLED asks for it: for a
 * confirmed address of a user who is neither anonymous nor managed by an identity provider. `email_verified` is false
 * for an address that was confirmed without verification: such an identity must not match the one of another user.
 */
export async function addEmailIdentity(
  { config }: FastifyInstance,
  trx: Trx,
  userId: string,
  now: Date,
): Promise<void> {
  if (!config.AUTH_EXPERIMENTAL_CREATE_EMAIL_IDENTITY_ON_PASSWORD_SET_ENABLED) return
  const user = await findUser(trx, userId)
  if (!user?.email || !user.email_confirmed_at || user.is_sso_user || user.is_anonymous) return
  if (user.identities.some(({ provider }) => provider === 'email')) return
  const { email } = user
  const isVerified = !(await isAutoconfirmed(trx, { user_id: userId, address: email }))
  const claims = { sub: userId, email, email_verified: isVerified, phone_verified: false }
  const identity = { user_id: userId, provider: 'email', provider_id: userId }
  await insertIdentity(trx, { ...identity, identity_data: claims }, now)
  await recomputeProviders(trx, userId, now)
}
