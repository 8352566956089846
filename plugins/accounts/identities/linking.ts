import { findAddressOwners } from '../../../db/address-owners.ts'
import type { Trx } from '../../../db/database.ts'
import { findIdentity, lockIdentity, recomputeProviders } from '../../../db/identities.ts'
import { mergeMetadata } from '../../../db/user-edits.ts'
import { type UserRecord, updateUser } from '../../../db/users.ts'
import {
  emailExists,
  emailNotConfirmed,
  identityAlreadyExists,
  userBanned,
} from '../../../errors.ts'
import { readAddresses } from '../external-sign-ins/addresses.ts'
import { addIdentity, linkedElsewhere, traitsOf } from '../external-sign-ins/identity.ts'
import type { ExternalPerson, SignInContext, SignInOutcome } from '../external-sign-ins.ts'
import type { IdentityDeps } from '../identities.ts'
import { lockedPerson } from './locked-person.ts'

export function createLinking(deps: IdentityDeps) {
  const { aud, autoconfirm, audit, letters, confirmationMail } = deps

  /** Somebody without an address gets the identity's; false when that has to be confirmed by mail. */
  async function takeAddress(
    trx: Trx,
    user: UserRecord,
    { identity }: ExternalPerson,
    context: SignInContext,
    now: Date,
  ): Promise<boolean> {
    const { primary: email, verified } = readAddresses(identity, autoconfirm)
    if (!email) {
      await updateUser(trx, user.id, { is_anonymous: false }, now)
      return true
    }
    const owners = await findAddressOwners(trx, [email], aud)
    if (owners.length > 0) throw emailExists(400)
    if (!verified.includes(email)) {
      await updateUser(trx, user.id, { email }, now)
      await confirmationMail.send(trx, { ...user, email }, context.links, now)
      return false
    }
    const change = { email, email_confirmed_at: now, is_anonymous: false }
    await updateUser(trx, user.id, change, now)
    await mergeMetadata(trx, user.id, { user: { email_verified: true } }, now)
    return true
  }

  /**
   * Adds what a provider says to a person who is signed in. Throws identity_already_exists, email_exists, user_banned,
   * user_not_found, over_email_send_rate_limit.
   */
  return async function link(
    trx: Trx,
    userId: string,
    person: ExternalPerson,
    context: SignInContext,
    now: Date,
  ): Promise<SignInOutcome> {
    const { provider, identity: told } = person
    await lockIdentity(trx, provider, told.providerId)
    const user = await lockedPerson(trx, userId)
    if (user.banned_until && user.banned_until > now) throw userBanned(403)
    await checkFree(trx, userId, person)
    const identity = await addIdentity(trx, userId, person, now)
    const isConfirmed = user.email ? true : await takeAddress(trx, user, person, context, now)
    await recomputeProviders(trx, userId, now)
    const traits = traitsOf(identity)
    await audit.record(trx, 'identity_linked', user, { ip: context.ip, now, traits })
    if (!isConfirmed) return { state: 'refused', error: needsConfirmation() }
    const linked = await lockedPerson(trx, userId)
    const letter = { kind: 'identity_linked_notification', Provider: provider } as const
    await letters.notify(trx, linked, letter, now)
    return { state: 'accepted', user: linked, action: 'identity_linked' }
  }
}

async function checkFree(trx: Trx, userId: string, { provider, identity }: ExternalPerson) {
  const existing = await findIdentity(trx, provider, identity.providerId)
  if (!existing) return
  const isOwn = existing.user_id === userId
  throw identityAlreadyExists(isOwn ? 'Identity is already linked' : linkedElsewhere)
}

const needsConfirmation = () =>
  emailNotConfirmed(
    'The address of this identity is unverified. Open the link we mailed to it.',
    422,
  )
