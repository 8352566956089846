/** Accepting an invitation by an external sign-in. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { findIdentity, lockIdentity, replaceIdentityData } from '../../db/identities/identities.ts'
import { recomputeProviders } from '../../db/users/update-user.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import { identityAlreadyExists, inviteNotFound, validationFailed } from '../../schemas/errors.ts'
import { recordAccess } from '../access/index.ts'
import type { AuditContext } from '../audit/index.ts'
import { consumeEmailLink } from '../otp/index.ts'
import { clearUnverifiedCredentials, lockAndLoadUser, verifyEmail } from '../users/index.ts'
import { readAddresses } from './emails.ts'
import { addIdentity, linkedToOtherUser } from './identity-row.ts'
import { checkState } from './lock-user.ts'
import { requireLinkable } from './tenant-provider.ts'
import type { CheckedExternalUser, ExternalUser, SignInOutcome } from './types.ts'

/**
 * The invitation's token verifies the address, whatever the provider reports. Throws invite_not_found,
 * identity_already_exists, user_banned, provider_not_accepted, validation_failed for another address.
 */
export async function acceptInvite(
  app: FastifyInstance,
  trx: Trx,
  token: string,
  externalUser: CheckedExternalUser,
  { ip, now }: AuditContext,
): Promise<SignInOutcome> {
  await lockIdentity(trx, externalUser.provider, externalUser.identity.providerId)
  const invited = await consumeInvitation(app, trx, token, externalUser.identity, now)
  checkState(invited, now)
  await requireLinkable(app, trx, invited, externalUser)
  await insertInvitedIdentity(app, trx, invited, externalUser, { ip, now })
  const proof = { clearTokens: true, endSessions: true }
  const user = await verifyEmail(app, trx, invited.id, proof, now)
  return { state: 'accepted', user, action: 'invite_accepted' }
}

/** Consumes the invitation and returns the locked user. Throws invite_not_found, validation_failed. */
async function consumeInvitation(
  app: FastifyInstance,
  trx: Trx,
  token: string,
  profile: ProviderIdentity,
  now: Date,
): Promise<UserRecord> {
  const invitation = await consumeEmailLink(
    app,
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
  app: FastifyInstance,
  trx: Trx,
  user: UserRecord,
  externalUser: ExternalUser,
  { ip, now }: AuditContext,
): Promise<void> {
  const { provider, identity: profile } = externalUser
  const existing = await findIdentity(trx, provider, profile.providerId)
  if (existing && existing.user_id !== user.id) throw identityAlreadyExists(linkedToOtherUser)
  if (existing) await replaceIdentityData(trx, existing.id, profile.claims, now)
  const identity = existing ?? (await addIdentity(trx, user.id, externalUser, now))
  if (user.email_confirmed_at) {
    const grant = { kind: 'identity', identity, ip } as const
    if (!existing) await recordAccess(app, trx, { user, grant }, now)
    return recomputeProviders(trx, user.id, now)
  }
  const metadata = profile.claims
  const retained = {
    keepIdentity: { id: identity.id },
    passwordHash: null,
    metadata,
    keepSessions: true,
  }
  await clearUnverifiedCredentials(app, trx, user, retained, now)
}
