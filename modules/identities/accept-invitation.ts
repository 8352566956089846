/** Accepting an invitation by an external sign-in. */
import type { Trx } from '../../db/core/database.ts'
import { findIdentity, lockIdentity, replaceIdentityData } from '../../db/identities/identities.ts'
import { recomputeProviders } from '../../db/users/providers.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import { identityAlreadyExists, inviteNotFound, validationFailed } from '../../schemas/errors.ts'
import { consumeEmailLink } from '../otp/index.ts'
import { clearUnverifiedCredentials, lockAndLoadUser, verifyEmail } from '../users/index.ts'
import { readAddresses } from './emails.ts'
import { addIdentity, linkedToOtherUser } from './identity-row.ts'
import { checkState } from './lock-user.ts'
import type { ExternalUser, SignInOutcome } from './types.ts'

/**
 * The invitation's token verifies the address, whatever the provider reports. Throws invite_not_found,
 * identity_already_exists, user_banned, validation_failed for another address.
 */
export async function acceptInvite(
  deps: Deps<'otp' | 'users'>,
  trx: Trx,
  token: string,
  externalUser: ExternalUser,
  now: Date,
): Promise<SignInOutcome> {
  await lockIdentity(trx, externalUser.provider, externalUser.identity.providerId)
  const invited = await consumeInvitation(deps, trx, token, externalUser.identity, now)
  checkState(invited, now)
  await insertInvitedIdentity(deps, trx, invited, externalUser, now)
  const proof = { voidsTokens: true, endsSessions: true }
  const user = await verifyEmail(deps.users, trx, invited.id, proof, now)
  return { state: 'accepted', user, action: 'invite_accepted' }
}

/** Consumes the invitation and returns the locked user. Throws invite_not_found, validation_failed. */
async function consumeInvitation(
  { otp }: Deps<'otp'>,
  trx: Trx,
  token: string,
  profile: ProviderIdentity,
  now: Date,
): Promise<UserRecord> {
  const invitation = await consumeEmailLink(
    otp,
    trx,
    ['confirmation_token'],
    { linkToken: token },
    now,
  )
  const user = invitation && (await lockAndLoadUser(trx, invitation.user_id))
  if (!user) throw inviteNotFound()
  if (user.email && readAddresses(profile).reported.includes(user.email)) return user
  throw validationFailed('The invitation was sent to another address than the provider returned')
}

/** Inserts the identity and clears earlier unverified credentials. Throws identity_already_exists. */
async function insertInvitedIdentity(
  { users }: Deps<'users'>,
  trx: Trx,
  user: UserRecord,
  externalUser: ExternalUser,
  now: Date,
): Promise<void> {
  const { provider, identity: profile } = externalUser
  const existing = await findIdentity(trx, provider, profile.providerId)
  if (existing && existing.user_id !== user.id) throw identityAlreadyExists(linkedToOtherUser)
  if (existing) await replaceIdentityData(trx, existing.id, profile.claims, now)
  const { id } = existing ?? (await addIdentity(trx, user.id, externalUser, now))
  if (user.email_confirmed_at) return recomputeProviders(trx, user.id, now)
  const metadata = profile.claims
  const retained = { keepIdentity: { id }, passwordHash: null, metadata, keepSessions: true }
  await clearUnverifiedCredentials(users, trx, user, retained, now)
}
