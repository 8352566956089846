/**
 * Resolves an external sign-in to an account: the one with the identity, the one whose email the provider verified, or
 * a new one. An unverified email never gives access to an account.
 */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { lockIssuer } from '../../db/custom-providers/providers.ts'
import { findIdentity, lockIdentity } from '../../db/identities/identities.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import { customProviderConflict, unexpectedFailure } from '../../schemas/errors.ts'
import { isRecord } from '../../schemas/values/record.ts'
import { createAuditEntry } from '../audit/index.ts'
import { createSession } from '../sessions/index.ts'
import { callBeforeUserCreated } from '../users/index.ts'
import type { CreationPermit } from '../users/sign-up/types.ts'
import { acceptInvite } from './accept-invitation.ts'
import { checkEmailConfirmation, rejectTakenEmail } from './email-confirmation-policy.ts'
import { readAddresses } from './emails.ts'
import { link } from './link.ts'
import { checkState } from './lock-user.ts'
import { findOrCreateAccount } from './match.ts'
import { resolveAccount } from './resolve-account.ts'
import { checkAssertions } from './tenant-provider.ts'
import type {
  AcceptedSignIn,
  CheckedExternalUser,
  ExternalUser,
  SignInContext,
  SignInOutcome,
  SignInPurpose,
} from './types.ts'

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
  app: FastifyInstance,
  db: Db,
  externalUser: ExternalUser,
  { linkingTargetId, inviteToken }: SignInPurpose,
  { aud, ip }: { aud: string; ip: string },
): Promise<CreationPermit | undefined> {
  if (linkingTargetId || inviteToken || app.config.AUTH_DISABLE_SIGNUP) return undefined
  const user = await checkAssertions(app, db, truncateClaims(app, externalUser))
  const { provider, identity } = user
  const addresses = readAddresses(identity)
  if (app.hooks.beforeUserCreated && !(await isNew(app, db, user, aud))) return undefined
  const appMetadata = { provider, providers: [provider] }
  const candidate = { aud, email: addresses.primary, userMetadata: identity.claims, appMetadata }
  return callBeforeUserCreated(app, candidate, ip)
}

/**
 * Whether the user seems to be new: the transaction checks again with the identity locked. An unverified email counts
 * as unknown, so that the hook's response does not reveal its owner.
 */
async function isNew(
  app: FastifyInstance,
  db: Db,
  { provider, identity, isOfTenant }: CheckedExternalUser,
  aud: string,
): Promise<boolean> {
  const { providerId } = identity
  const query = { provider, providerId, isOfTenant, aud, addresses: readAddresses(identity) }
  return ['create', 'owned'].includes((await resolveAccount(app, db, query)).state)
}

/**
 * Completes an external sign-in. Throws the errors of `link`, `acceptInvitation` or `signIn`, and conflict when the
 * issuer of a custom provider was changed concurrently.
 */
export async function completeExternalSignIn(
  app: FastifyInstance,
  trx: Trx,
  externalUser: ExternalUser,
  { linkingTargetId, linkingSessionId, inviteToken }: SignInPurpose,
  context: SignInContext,
  now: Date,
): Promise<SignInOutcome> {
  const user = await checkAssertions(app, trx, truncateClaims(app, externalUser))
  const { provider: identifier, identity } = externalUser
  const { issuer } = identity
  if (issuer !== undefined && !(await lockIssuer(trx, { identifier, issuer }))) {
    throw customProviderConflict('The provider was changed during the sign-in. Try again.')
  }
  if (linkingTargetId) {
    const requester = { userId: linkingTargetId, sessionId: linkingSessionId }
    return link(app, trx, requester, user, context, now)
  }
  if (inviteToken) return acceptInvite(app, trx, inviteToken, user, { ip: context.ip, now })
  return signIn(app, trx, user, context, now)
}

/**
 * Finds or creates the account. Throws signup_disabled, user_banned, over_email_send_rate_limit and, for emails of
 * several accounts, unexpected_failure; service_unavailable when the account was deleted concurrently.
 */
async function signIn(
  app: FastifyInstance,
  trx: Trx,
  user: CheckedExternalUser,
  context: SignInContext,
  now: Date,
): Promise<SignInOutcome> {
  await lockIdentity(trx, user.provider, user.identity.providerId)
  const addresses = readAddresses(user.identity)
  const attempt = { user, addresses, context }
  // Retried when the email was registered between look-up and insert.
  const found =
    (await findOrCreateAccount(app, trx, attempt, now)) ??
    (await findOrCreateAccount(app, trx, attempt, now))
  if (!found) throw unexpectedFailure('Another user has taken the address of this identity')
  if (found === 'owned') {
    return rejectTakenEmail(app, trx, addresses.primary ?? '', context.links, now)
  }
  checkState(found.user, now)
  return checkEmailConfirmation(app, trx, found, attempt, now)
}

// Limits the size of a provider's claims.

/** Half of the maximum access token, which also contains the other metadata. */
const maxBytes = 6144

/** Claims that identify a user; providers limit their size. */
const essential = ['sub', 'provider_id', 'iss', 'email', 'email_verified', 'phone_verified']

/** Drops the largest claims above the limit instead of rejecting the user. */
function truncateClaims({ config }: FastifyInstance, user: ExternalUser): ExternalUser {
  const { identity } = user
  const maxBytesLeft = Math.min(maxBytes, config.AUTH_USER_METADATA_MAX_BYTES)
  return { ...user, identity: { ...identity, claims: capped(identity.claims, maxBytesLeft) } }
}

type Claims = ProviderIdentity['claims']

function capped({ custom_claims, ...claims }: Claims, maxBytesLeft: number): Claims {
  // A long list of groups must not displace the other claims.
  const custom = Object.entries(isRecord(custom_claims) ? custom_claims : {})
  const all = [
    ...Object.entries(claims).map(([key, value]) => ({ key, value, isCustom: false })),
    ...custom.map(([key, value]) => ({ key, value, isCustom: true })),
  ]
  const kept = shortest(all, maxBytesLeft)
  const named = kept.filter(({ isCustom }) => !isCustom)
  const others = kept.filter(({ isCustom }) => isCustom)
  return { ...toRecord(named), ...(others.length > 0 && { custom_claims: toRecord(others) }) }
}

interface Claim {
  key: string
  value: unknown
  isCustom: boolean
}

/** As many as fit, the shorter ones first, in their original order. */
function shortest(claims: readonly Claim[], maxBytesLeft: number): Claim[] {
  const bySize = claims
    .map((claim) => ({ claim, size: computeSize(claim) }))
    .toSorted((left, right) => left.size - right.size)
  let total = 0
  const kept = new Set<Claim>()
  for (const { claim, size } of bySize) {
    total += size
    if (total <= maxBytesLeft) kept.add(claim)
  }
  return claims.filter((claim) => kept.has(claim))
}

function computeSize({ key, value, isCustom }: Claim): number {
  if (!isCustom && essential.includes(key)) return 0
  return Buffer.byteLength(JSON.stringify({ [key]: value }))
}

function toRecord(claims: readonly Claim[]): Claims {
  return Object.fromEntries(claims.map(({ key, value }) => [key, value]))
}

interface ExternalClient {
  provider: string
  clientInfo: ClientInfo
  ip: string
}

/** Creates the session of an external sign-in and records it; linking an identity was recorded before. */
export function createExternalSession(
  app: FastifyInstance,
  trx: Trx,
  { user, action }: AcceptedSignIn,
  { provider, clientInfo, ip }: ExternalClient,
  now: Date,
) {
  const isLinked = action === 'identity_linked'
  const entry = isLinked ? undefined : createAuditEntry(app.audit, action, user, ip, { provider })
  return createSession(app, trx, user, { method: 'oauth', clientInfo, audit: entry }, now)
}
