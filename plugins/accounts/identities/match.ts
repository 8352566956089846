/** Finds, links or makes the account of an identity that a provider told of. */
import type { Trx } from '../../../db/database.ts'
import { type IdentityRow, replaceIdentityData } from '../../../db/identities.ts'
import { mergeMetadata } from '../../../db/user-edits.ts'
import { recomputeProviders } from '../../../db/user-providers.ts'
import { lockUser } from '../../../db/user-rows.ts'
import type { UserRecord } from '../../../db/users.ts'
import {
  accountChangedMeanwhile,
  providerEmailNeedsVerification,
  signupDisabled,
  unexpectedFailure,
} from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { Identity } from '../../oauth-providers.ts'
import { addIdentity, identityOf, traitsOf } from './identity-row.ts'
import type { SignInAttempt } from './oauth-sign-in.ts'
import { decide, hasOwnDomain, isOwner } from './owner.ts'
import { readPerson } from './person.ts'

/** The account of whoever came back, with the identity they came by when it was there before. */
export type MatchedAccount =
  | { isNew: false; user: UserRecord; identity: IdentityRow }
  | { isNew: true; user: UserRecord }

/**
 * 'owned' for an unproven address of somebody else, undefined when another request has just registered it.
 * Throws signup_disabled, provider_email_needs_verification, unexpected_failure for several accounts.
 */
export async function findOrCreate(
  house: House<'audit' | 'config' | 'users'>,
  trx: Trx,
  attempt: SignInAttempt,
  now: Date,
): Promise<MatchedAccount | 'owned' | undefined> {
  const { person, addresses, context } = attempt
  const { provider, identity } = person
  const question = { provider, providerId: identity.providerId, addresses, aud: context.aud }
  const decision = await decide(house, trx, question)
  switch (decision.state) {
    case 'exists':
      return refresh(house, trx, decision.identity, identity.claims, now)
    case 'link':
      await lockUser(trx, decision.userId)
      // While this waited, they may have given the address up for another one.
      if (!(await isOwner(house, trx, question, decision.userId))) return undefined
      return addTo(house, trx, decision.userId, attempt, now)
    case 'create':
      return create(house, trx, attempt, now)
    case 'owned':
      return 'owned'
    case 'several':
      throw unexpectedFailure('The addresses of this identity belong to several accounts')
  }
}

/** The identity follows the provider, and the metadata as far as it has room; the address of the account stays. */
async function refresh(
  { config }: House<'config'>,
  trx: Trx,
  identity: IdentityRow,
  claims: Identity['claims'],
  now: Date,
): Promise<MatchedAccount> {
  await lockUser(trx, identity.user_id)
  await replaceIdentityData(trx, identity.id, claims, now)
  const { AUTH_USER_METADATA_MAX_BYTES: most } = config
  await mergeMetadata(trx, identity.user_id, { user: claims }, most, now)
  await recomputeProviders(trx, identity.user_id, now)
  const user = await readPerson(trx, identity.user_id)
  return { isNew: false, user, identity: { ...identity, identity_data: claims } }
}

async function addTo(
  { audit, config }: House<'audit' | 'config'>,
  trx: Trx,
  userId: string,
  { person, context: { ip } }: SignInAttempt,
  now: Date,
): Promise<MatchedAccount> {
  const identity = await addIdentity(trx, userId, person, now)
  const { AUTH_USER_METADATA_MAX_BYTES: most } = config
  await mergeMetadata(trx, userId, { user: person.identity.claims }, most, now)
  await recomputeProviders(trx, userId, now)
  const user = await readPerson(trx, userId)
  await audit.record(trx, 'identity_linked', user, { ip, now, traits: traitsOf(identity) })
  return { isNew: false, user, identity }
}

/** Undefined when another request has just registered the address. */
async function create(
  house: House<'config' | 'users'>,
  trx: Trx,
  { person, addresses: { primary }, context: { aud, approval } }: SignInAttempt,
  now: Date,
): Promise<MatchedAccount | undefined> {
  const { provider, identity, emailOptional } = person
  const { config, users } = house
  if (config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
  if (primary === null && !emailOptional) throw providerEmailNeedsVerification()
  if (!approval) throw accountChangedMeanwhile()
  const newPerson = {
    approval,
    aud,
    email: primary,
    passwordHash: null,
    appMetadata: { provider, providers: [provider] },
    userMetadata: identity.claims,
    isSso: hasOwnDomain(house, provider),
    identities: [identityOf(person)],
  }
  const user = await users.create(trx, newPerson, now)
  return user && { isNew: true, user }
}
