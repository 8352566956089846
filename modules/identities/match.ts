/** Finds, links or creates the account of an identity. */
import type { Trx } from '../../db/core/database.ts'
import { replaceIdentityData } from '../../db/identities/identities.ts'
import type { IdentityRow } from '../../db/tables/identities.ts'
import { mergeMetadata } from '../../db/users/merge-user.ts'
import { recomputeProviders } from '../../db/users/providers.ts'
import { lockUser } from '../../db/users/update-user.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import {
  accountChangedConcurrently,
  providerEmailNeedsVerification,
  signupDisabled,
  unexpectedFailure,
} from '../../schemas/errors.ts'
import { metadataLimits } from '../../schemas/values/metadata-limits.ts'
import { recordAudit } from '../audit/index.ts'
import { createUser } from '../users/index.ts'
import { addIdentity, identityTraits, toExternalIdentity } from './identity-row.ts'
import { findUserOrThrow } from './lock-user.ts'
import { isOwner, isSsoProvider, resolveAccount } from './resolve-account.ts'
import type { MatchedAccount, SignInAttempt } from './types.ts'

/**
 * Returns 'owned' for an unverified email of another user, undefined when another request has registered it
 * concurrently. Throws signup_disabled, provider_email_needs_verification, unexpected_failure for several accounts.
 */
export async function findOrCreateAccount(
  deps: Deps<'audit' | 'config' | 'users'>,
  trx: Trx,
  attempt: SignInAttempt,
  now: Date,
): Promise<MatchedAccount | 'owned' | undefined> {
  const { user, addresses, context } = attempt
  const { provider, identity } = user
  const query = { provider, providerId: identity.providerId, addresses, aud: context.aud }
  const decision = await resolveAccount(deps, trx, query)
  switch (decision.state) {
    case 'exists':
      return refresh(deps, trx, decision.identity, identity.claims, now)
    case 'link':
      await lockUser(trx, decision.userId)
      // The user may have changed their email while this waited for the lock.
      if (!(await isOwner(deps, trx, query, decision.userId))) return undefined
      return addTo(deps, trx, decision.userId, attempt, now)
    case 'create':
      return create(deps, trx, attempt, now)
    case 'owned':
      return 'owned'
    case 'several':
      throw unexpectedFailure('The addresses of this identity belong to several accounts')
  }
}

/** Updates the identity from the provider, and the metadata within their limit; the email of the account stays. */
async function refresh(
  { config }: Deps<'config'>,
  trx: Trx,
  identity: IdentityRow,
  profile: ProviderIdentity['claims'],
  now: Date,
): Promise<MatchedAccount> {
  await lockUser(trx, identity.user_id)
  const claims = withKnownAddress(profile, identity.identity_data)
  await replaceIdentityData(trx, identity.id, claims, now)
  await mergeMetadata(trx, identity.user_id, { user: claims }, metadataLimits(config), now)
  await recomputeProviders(trx, identity.user_id, now)
  const user = await findUserOrThrow(trx, identity.user_id)
  return { isNew: false, user, identity: { ...identity, identity_data: claims } }
}

/** Apple omits the email at later sign-ins; the known one is kept. */
function withKnownAddress(
  profile: ProviderIdentity['claims'],
  known: IdentityRow['identity_data'],
) {
  if (profile.email !== undefined || known.email === undefined) return profile
  const { email, email_verified } = known
  return { ...profile, email, email_verified }
}

async function addTo(
  { audit, config }: Deps<'audit' | 'config'>,
  trx: Trx,
  userId: string,
  { user: externalUser, context: { ip } }: SignInAttempt,
  now: Date,
): Promise<MatchedAccount> {
  const identity = await addIdentity(trx, userId, externalUser, now)
  await mergeMetadata(
    trx,
    userId,
    { user: externalUser.identity.claims },
    metadataLimits(config),
    now,
  )
  await recomputeProviders(trx, userId, now)
  const user = await findUserOrThrow(trx, userId)
  await recordAudit(audit, trx, 'identity_linked', user, {
    ip,
    now,
    traits: identityTraits(identity),
  })
  return { isNew: false, user, identity }
}

/** Undefined when another request has registered the email concurrently. */
async function create(
  deps: Deps<'config' | 'users'>,
  trx: Trx,
  { user: externalUser, addresses: { primary }, context: { aud, permit } }: SignInAttempt,
  now: Date,
): Promise<MatchedAccount | undefined> {
  const { provider, identity, emailOptional } = externalUser
  const { config, users } = deps
  if (config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
  if (primary === null && !emailOptional) throw providerEmailNeedsVerification()
  if (!permit) throw accountChangedConcurrently()
  const signUpUser = {
    permit,
    aud,
    email: primary,
    passwordHash: null,
    appMetadata: { provider, providers: [provider] },
    userMetadata: identity.claims,
    isSso: isSsoProvider(deps, provider),
    identities: [toExternalIdentity(externalUser)],
  }
  const user = await createUser(users, trx, signUpUser, now)
  return user && { isNew: true, user }
}
