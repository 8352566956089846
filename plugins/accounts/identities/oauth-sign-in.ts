/**
 * From whoever came back from a provider to an account here: the one that has the identity, the one whose address the
 * provider has proven, or a new one. An address that nobody proved never opens or takes over anything.
 */
import type { Db, Trx } from '../../../db/database.ts'
import { lockIdentity } from '../../../db/identities.ts'
import type { UserRecord } from '../../../db/users.ts'
import { type ApiError, unexpectedFailure } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { Identity } from '../../oauth-providers.ts'
import type { LinkContext } from '../flows/link-context.ts'
import type { Approval } from '../users/approval.ts'
import { acceptInvitation } from './accept-invitation.ts'
import { type Addresses, readAddresses } from './addresses.ts'
import { withCappedClaims } from './capped-claims.ts'
import { admit, refuseOwned } from './email-confirmation-policy.ts'
import { link } from './link.ts'
import { findOrCreate } from './match.ts'
import { decide } from './owner.ts'
import { checkState } from './person.ts'

/** Who came back, and from where. */
export interface OauthPerson {
  provider: string
  identity: Identity
  /** Whether this provider lets people in of whom it tells no address. */
  emailOptional: boolean
}

export interface SignInContext {
  ip: string
  /** Whose accounts are looked at, and what a new one belongs to. */
  aud: string
  /** For a new account; undefined where there was one before the transaction began. */
  approval: Approval | undefined
  /**
   * For the mail that asks for the proof the provider did not give. Without PKCE, so that its link ends in a session:
   * whoever opens it need not be the client that waits.
   */
  links: LinkContext
}

/** A sign-in that is neither a link nor an invitation. */
export interface SignInAttempt {
  person: OauthPerson
  addresses: Addresses
  context: SignInContext
}

/** What else the sign-in was begun for. */
export interface SignInPurpose {
  /** The person whom the identity is to be linked to. */
  linkingTargetId?: string | null | undefined
  /** The session that they asked in: the link is refused when it has ended by now. */
  linkingSessionId?: string | null | undefined
  /** Of the invitation that is accepted by it. */
  inviteToken?: string | undefined
}

/** What the audit trail calls it; that an identity was linked has its own entry by then. */
export type SignInAction = 'login' | 'user_signedup' | 'invite_accepted' | 'identity_linked'

export type SignInOutcome =
  | { state: 'accepted'; user: UserRecord; action: SignInAction }
  /** Throw the error after the commit: what was written is to stay. */
  | { state: 'refused'; error: ApiError }

type SignInHouse = House<'audit' | 'bearerAuth' | 'config' | 'emails' | 'otp' | 'users'>

/** Throws unexpected_failure when the provider told no address and has to. */
export function requireAddress({ identity, emailOptional }: OauthPerson): void {
  if (emailOptional || readAddresses(identity).primary !== null) return
  throw unexpectedFailure('The provider told no usable email address of this person')
}

/**
 * Whether the account of somebody new may be made, asked before the transaction that makes it. Undefined for somebody who
 * has an account. Throws HookError when the operator's hook refuses a new one.
 */
export async function approve(
  house: House<'config' | 'hooks' | 'users'>,
  db: Db,
  comer: OauthPerson,
  { linkingTargetId, inviteToken }: SignInPurpose,
  { aud, ip }: { aud: string; ip: string },
): Promise<Approval | undefined> {
  if (linkingTargetId || inviteToken || house.config.AUTH_DISABLE_SIGNUP) return undefined
  const { provider, identity } = withCappedClaims(house, comer)
  const addresses = readAddresses(identity)
  if (house.hooks.askForUser && !(await isNew(house, db, comer, aud))) return undefined
  const appMetadata = { provider, providers: [provider] }
  const candidate = { aud, email: addresses.primary, userMetadata: identity.claims, appMetadata }
  return house.users.approve(candidate, ip)
}

/**
 * Whether it looks as if somebody new came: the transaction looks again, with the identity locked. An address that the
 * provider has not proven is nobody's for this, so that what the hook says does not tell whose it is.
 */
async function isNew(
  house: House<'config'>,
  db: Db,
  { provider, identity }: OauthPerson,
  aud: string,
): Promise<boolean> {
  const { providerId } = identity
  const question = { provider, providerId, aud, addresses: readAddresses(identity) }
  return ['create', 'owned'].includes((await decide(house, db, question)).state)
}

/** Ends a sign-in through a provider as it was begun. Throws what `link`, `acceptInvitation` or `signIn` throw. */
export function completeSignIn(
  house: SignInHouse,
  trx: Trx,
  comer: OauthPerson,
  { linkingTargetId, linkingSessionId, inviteToken }: SignInPurpose,
  context: SignInContext,
  now: Date,
): Promise<SignInOutcome> {
  const person = withCappedClaims(house, comer)
  if (linkingTargetId) {
    const asker = { userId: linkingTargetId, sessionId: linkingSessionId }
    return link(house, trx, asker, person, context, now)
  }
  if (inviteToken) return acceptInvitation(house, trx, inviteToken, person, now)
  return signIn(house, trx, person, context, now)
}

/**
 * Finds or makes the account. Throws signup_disabled, user_banned, over_email_send_rate_limit and, for addresses of
 * several accounts, unexpected_failure; service_unavailable when the account is gone that was there before.
 */
async function signIn(
  house: SignInHouse,
  trx: Trx,
  person: OauthPerson,
  context: SignInContext,
  now: Date,
): Promise<SignInOutcome> {
  await lockIdentity(trx, person.provider, person.identity.providerId)
  const addresses = readAddresses(person.identity)
  const attempt = { person, addresses, context }
  // A second look when the address was registered between the look-up and the insertion.
  const found =
    (await findOrCreate(house, trx, attempt, now)) ?? (await findOrCreate(house, trx, attempt, now))
  if (!found) throw unexpectedFailure('The address of this identity was taken meanwhile')
  if (found === 'owned') return refuseOwned(house, trx, addresses.primary ?? '', now)
  checkState(found.user, now)
  return admit(house, trx, found, attempt, now)
}
