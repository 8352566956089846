/**
 * Resolves an external sign-in to an account: the one with the identity, the one whose email the provider verified, or
 * a new one. An unverified email never gives access to an account.
 */
import type { Db, Trx } from '../../db/core/database.ts'
import { lockIssuer } from '../../db/custom-providers/providers.ts'
import { findIdentity, lockIdentity } from '../../db/identities/identities.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { customProviderConflict, unexpectedFailure } from '../../schemas/errors.ts'
import { callBeforeUserCreated } from '../users/index.ts'
import type { CreationPermit } from '../users/sign-up/types.ts'
import { acceptInvite } from './accept-invitation.ts'
import { checkEmailConfirmation, rejectTakenEmail } from './email-confirmation-policy.ts'
import { readAddresses } from './emails.ts'
import { link } from './link.ts'
import { checkState } from './lock-user.ts'
import { findOrCreateAccount } from './match.ts'
import { resolveAccount } from './resolve-account.ts'
import { truncateClaims } from './truncate-claims.ts'
import type { ExternalUser, SignInContext, SignInOutcome, SignInPurpose } from './types.ts'

type SignInDeps = Deps<'audit' | 'config' | 'credentials' | 'emails' | 'otp' | 'users'>

/**
 * A known identity needs no email: providers omit it at later sign-ins. Throws unexpected_failure when a new one
 * requires it.
 */
export async function requireProviderEmail(
  db: Db,
  { provider, identity, emailOptional }: ExternalUser,
): Promise<void> {
  if (emailOptional || readAddresses(identity).primary !== null) return
  if (await findIdentity(db, provider, identity.providerId)) return
  throw unexpectedFailure('The provider returned no usable email address of this user')
}

/**
 * Obtains the permit for a new account before the transaction. Undefined for an existing account. Throws HookError when
 * the hook rejects it.
 */
export async function permitExternalUser(
  deps: Deps<'config' | 'hooks' | 'users'>,
  db: Db,
  externalUser: ExternalUser,
  { linkingTargetId, inviteToken }: SignInPurpose,
  { aud, ip }: { aud: string; ip: string },
): Promise<CreationPermit | undefined> {
  if (linkingTargetId || inviteToken || deps.config.AUTH_DISABLE_SIGNUP) return undefined
  const { provider, identity } = truncateClaims(deps, externalUser)
  const addresses = readAddresses(identity)
  if (deps.hooks.beforeUserCreated && !(await isNew(deps, db, externalUser, aud))) return undefined
  const appMetadata = { provider, providers: [provider] }
  const candidate = { aud, email: addresses.primary, userMetadata: identity.claims, appMetadata }
  return callBeforeUserCreated(deps.users, candidate, ip)
}

/**
 * Whether the user seems to be new: the transaction checks again with the identity locked. An unverified email counts
 * as unknown, so that the hook's response does not reveal its owner.
 */
async function isNew(
  deps: Deps<'config'>,
  db: Db,
  { provider, identity }: ExternalUser,
  aud: string,
): Promise<boolean> {
  const { providerId } = identity
  const query = { provider, providerId, aud, addresses: readAddresses(identity) }
  return ['create', 'owned'].includes((await resolveAccount(deps, db, query)).state)
}

/**
 * Completes an external sign-in. Throws the errors of `link`, `acceptInvitation` or `signIn`, and conflict when the
 * issuer of a custom provider was changed concurrently.
 */
export async function completeExternalSignIn(
  deps: SignInDeps,
  trx: Trx,
  externalUser: ExternalUser,
  { linkingTargetId, linkingSessionId, inviteToken }: SignInPurpose,
  context: SignInContext,
  now: Date,
): Promise<SignInOutcome> {
  const user = truncateClaims(deps, externalUser)
  const { provider: identifier, identity } = externalUser
  const { issuer } = identity
  if (issuer !== undefined && !(await lockIssuer(trx, { identifier, issuer }))) {
    throw customProviderConflict('The provider was changed during the sign-in. Try again.')
  }
  if (linkingTargetId) {
    const requester = { userId: linkingTargetId, sessionId: linkingSessionId }
    return link(deps, trx, requester, user, context, now)
  }
  if (inviteToken) return acceptInvite(deps, trx, inviteToken, user, now)
  return signIn(deps, trx, user, context, now)
}

/**
 * Finds or creates the account. Throws signup_disabled, user_banned, over_email_send_rate_limit and, for emails of
 * several accounts, unexpected_failure; service_unavailable when the account was deleted concurrently.
 */
async function signIn(
  deps: SignInDeps,
  trx: Trx,
  user: ExternalUser,
  context: SignInContext,
  now: Date,
): Promise<SignInOutcome> {
  await lockIdentity(trx, user.provider, user.identity.providerId)
  const addresses = readAddresses(user.identity)
  const attempt = { user, addresses, context }
  // Retried when the email was registered between look-up and insert.
  const found =
    (await findOrCreateAccount(deps, trx, attempt, now)) ??
    (await findOrCreateAccount(deps, trx, attempt, now))
  if (!found) throw unexpectedFailure('Another user has taken the address of this identity')
  if (found === 'owned') {
    return rejectTakenEmail(deps, trx, addresses.primary ?? '', context.links, now)
  }
  checkState(found.user, now)
  return checkEmailConfirmation(deps, trx, found, attempt, now)
}
