/** Finds, links or creates the account of an identity. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { replaceIdentityData } from '../../db/identities/identities.ts'
import type { IdentityRow } from '../../db/tables/identities.ts'
import { mergeMetadata } from '../../db/users/merge-user.ts'
import { lockUser, recomputeProviders } from '../../db/users/update-user.ts'
import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import {
  accountChangedConcurrently,
  providerEmailNeedsVerification,
  signupDisabled,
  unexpectedFailure,
} from '../../schemas/errors.ts'
import { metadataLimits } from '../../schemas/values/metadata-limits.ts'
import { hasConfirmedIdentifier, recordAccess } from '../access/index.ts'
import { createUser } from '../users/index.ts'
import { addIdentity, toExternalIdentity } from './identity-row.ts'
import { findUserOrThrow } from './lock-user.ts'
import { isOwner, resolveAccount } from './resolve-account.ts'
import { isSsoProvider, requireOpenable } from './tenant-provider.ts'
import type { CheckedExternalUser, MatchedAccount, SignInAttempt } from './types.ts'

/**
 * Returns 'owned' for an unverified email of another user, undefined when another request has registered it
 * concurrently. Throws signup_disabled, provider_email_needs_verification, provider_not_accepted, unexpected_failure for
 * several accounts.
 */
export async function findOrCreateAccount(
  app: FastifyInstance,
  trx: Trx,
  attempt: SignInAttempt,
  now: Date,
): Promise<MatchedAccount | 'owned' | undefined> {
  const { user, addresses, context } = attempt
  const { provider, identity, isOfTenant } = user
  const { providerId } = identity
  const query = { provider, providerId, isOfTenant, addresses, aud: context.aud }
  const decision = await resolveAccount(app, trx, query)
  switch (decision.state) {
    case 'exists':
      return openExisting(app, trx, decision.identity, user, now)
    case 'link':
      await lockUser(trx, decision.userId)
      // The user may have changed their email while this waited for the lock.
      if (!(await isOwner(app, trx, query, decision.userId))) return undefined
      return addTo(app, trx, decision.userId, attempt, now)
    case 'create':
      return create(app, trx, attempt, now)
    case 'owned':
      return 'owned'
    case 'several':
      throw unexpectedFailure('The addresses of this identity belong to several accounts')
  }
}

/** Throws provider_not_accepted. */
async function openExisting(
  app: FastifyInstance,
  trx: Trx,
  identity: IdentityRow,
  external: CheckedExternalUser,
  now: Date,
): Promise<MatchedAccount> {
  await lockUser(trx, identity.user_id)
  const found = await refresh(app, trx, identity, external.identity.claims, now)
  await requireOpenable(app, trx, { user: found.user, identity }, external)
  return found
}

/** Updates the identity from the provider, and the metadata within their limit; the email of the account stays. */
async function refresh(
  { config }: FastifyInstance,
  trx: Trx,
  identity: IdentityRow,
  profile: ProviderIdentity['claims'],
  now: Date,
): Promise<MatchedAccount> {
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
  app: FastifyInstance,
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
    metadataLimits(app.config),
    now,
  )
  await recomputeProviders(trx, userId, now)
  const user = await findUserOrThrow(trx, userId)
  // A provider that is the first to verify the address of an account is no second method.
  const isEstablished = !(await hasConfirmedIdentifier(trx, user))
  const grant = { kind: 'identity', identity, ip } as const
  await recordAccess(app, trx, { user, grant, isEstablished }, now)
  return { isNew: false, user, identity }
}

/** Undefined when another request has registered the email concurrently. */
async function create(
  app: FastifyInstance,
  trx: Trx,
  { user: externalUser, addresses: { primary }, context: { aud, permit } }: SignInAttempt,
  now: Date,
): Promise<MatchedAccount | undefined> {
  const { provider, identity, emailOptional } = externalUser
  const { config } = app
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
    isSso: isSsoProvider(app, provider),
    identities: [toExternalIdentity(externalUser)],
  }
  const user = await createUser(app, trx, signUpUser, now)
  return user && { isNew: true, user }
}
