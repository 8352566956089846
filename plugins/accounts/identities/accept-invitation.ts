/** An invitation that is accepted by signing in through a provider. */
import type { Trx } from '../../../db/database.ts'
import { findIdentity, lockIdentity, replaceIdentityData } from '../../../db/identities.ts'
import { recomputeProviders } from '../../../db/user-providers.ts'
import type { UserRecord } from '../../../db/users.ts'
import { identityAlreadyExists, inviteNotFound, validationFailed } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { Identity } from '../../oauth-providers.ts'
import { readAddresses } from './addresses.ts'
import { addIdentity, linkedElsewhere } from './identity-row.ts'
import type { OauthPerson, SignInOutcome } from './oauth-sign-in.ts'
import { checkState } from './person.ts'

/**
 * The invitation's token proves the address, whatever the provider knows of it. Throws invite_not_found,
 * identity_already_exists, user_banned, validation_failed for another address.
 */
export async function acceptInvitation(
  house: House<'otp' | 'users'>,
  trx: Trx,
  token: string,
  person: OauthPerson,
  now: Date,
): Promise<SignInOutcome> {
  await lockIdentity(trx, person.provider, person.identity.providerId)
  const invited = await takeInvitation(house, trx, token, person.identity, now)
  checkState(invited, now)
  await giveIdentity(house, trx, invited, person, now)
  const proof = { voidsTokens: true, endsSessions: true }
  const user = await house.users.proveEmail(trx, invited.id, proof, now)
  return { state: 'accepted', user, action: 'invite_accepted' }
}

/** Spends the invitation and returns the person, locked. Throws invite_not_found, validation_failed. */
async function takeInvitation(
  { otp, users }: House<'otp' | 'users'>,
  trx: Trx,
  token: string,
  told: Identity,
  now: Date,
): Promise<UserRecord> {
  const invitation = await otp.takeLink(trx, ['confirmation_token'], { linkToken: token }, now)
  const user = invitation && (await users.lock(trx, invitation.user_id))
  if (!user) throw inviteNotFound()
  if (user.email && readAddresses(told).told.includes(user.email)) return user
  throw validationFailed('The invitation was sent to another address than the provider tells')
}

/** The person gets the identity and loses what was there before. Throws identity_already_exists. */
async function giveIdentity(
  { users }: House<'users'>,
  trx: Trx,
  user: UserRecord,
  person: OauthPerson,
  now: Date,
): Promise<void> {
  const { provider, identity: told } = person
  const existing = await findIdentity(trx, provider, told.providerId)
  if (existing && existing.user_id !== user.id) throw identityAlreadyExists(linkedElsewhere)
  if (existing) await replaceIdentityData(trx, existing.id, told.claims, now)
  const { id } = existing ?? (await addIdentity(trx, user.id, person, now))
  if (user.email_confirmed_at) return recomputeProviders(trx, user.id, now)
  const metadata = told.claims
  const kept = { keepIdentity: { id }, passwordHash: null, metadata, keepSessions: true }
  await users.dropUnproven(trx, user, kept, now)
}
