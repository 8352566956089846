/** The account of a provisioned user: an existing one is linked, otherwise one is created. */
import type { Trx } from '../../db/core/database.ts'
import { findIdentity, upsertIdentity } from '../../db/identities/identities.ts'
import { isVerifiedDomain, type ScimConnectionRow } from '../../db/scim/connections.ts'
import { isAccountProvisioned } from '../../db/scim/users.ts'
import { findIdentifierOwners } from '../../db/users/identifier-owners.ts'
import { recomputeProviders } from '../../db/users/providers.ts'
import { lockUser } from '../../db/users/update-user.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { scimRejected } from '../../schemas/errors.ts'
import { callBeforeUserCreated, createUser } from '../users/index.ts'
import type { CreationPermit } from '../users/sign-up/types.ts'
import {
  type AccountClaims,
  toAccountMetadata,
  toProviderName,
  toScimIdentities,
} from './claims.ts'

type AccountDeps = Deps<'config' | 'users'>

/** Calls the operator's hook, before the transaction. Throws HookError. */
export function permitAccount(
  { config, users }: AccountDeps,
  connection: ScimConnectionRow,
  claims: AccountClaims,
  ip: string,
): Promise<CreationPermit> {
  const { email } = claims
  const known = { aud: config.AUTH_JWT_AUD, email, ...toAccountMetadata(connection, claims) }
  return callBeforeUserCreated(users, known, ip)
}

/**
 * Returns the account, locked. An existing account is linked only when it signed in at the provider of the connection
 * under this name, or has a confirmed address inside a verified domain. Throws uniqueness.
 */
export async function linkOrCreateAccount(
  deps: AccountDeps,
  trx: Trx,
  connection: ScimConnectionRow,
  { claims, permit }: { claims: AccountClaims; permit: CreationPermit },
  now: Date,
): Promise<{ userId: string; isNew: boolean }> {
  const isVerified = await hasVerifiedEmailDomain(trx, connection, claims.email)
  const linked = await findLinkable(deps, trx, connection, claims, isVerified)
  if (linked === undefined) {
    const userId = await createAccount(deps, trx, connection, { claims, isVerified, permit }, now)
    return { userId, isNew: true }
  }
  await lockUser(trx, linked)
  if (await isAccountProvisioned(trx, linked)) {
    throw uniqueness('The account with this address is provisioned under another userName')
  }
  await addIdentity(trx, connection, claims, linked, now)
  return { userId: linked, isNew: false }
}

export async function hasVerifiedEmailDomain(
  trx: Trx,
  connection: ScimConnectionRow,
  email: string | null,
): Promise<boolean> {
  if (email === null) return false
  return isVerifiedDomain(trx, connection, email.slice(email.lastIndexOf('@') + 1))
}

/** The account that a deleted user had, unless another provisioned user has it now. */
export async function findFormerAccount(trx: Trx, userId: string | null | undefined) {
  if (!userId || (await isAccountProvisioned(trx, userId))) return undefined
  return { userId, isNew: undefined }
}

/** The existing account that a new user is linked to. */
export async function findLinkable(
  { config }: Deps<'config'>,
  trx: Trx,
  connection: ScimConnectionRow,
  { userName, email }: AccountClaims,
  isVerified: boolean,
): Promise<string | undefined> {
  const provider = toProviderName(connection)
  const identity = connection.has_saml ? await findIdentity(trx, provider, userName) : undefined
  if (identity) return identity.user_id
  if (!email || !isVerified) return undefined
  const owners = await findIdentifierOwners(trx, [email], config.AUTH_JWT_AUD)
  // An address that was confirmed without verification is not confirmed.
  return owners.find((owner) => owner.email_confirmed_at && !owner.is_autoconfirmed)?.id
}

/** A sign-in at the provider signs in to the linked account, not to another one with its address. */
async function addIdentity(
  trx: Trx,
  connection: ScimConnectionRow,
  claims: AccountClaims,
  userId: string,
  now: Date,
): Promise<void> {
  if (!connection.has_saml) return
  for (const identity of toScimIdentities(connection, claims, userId, true)) {
    await upsertIdentity(trx, { ...identity, user_id: userId }, now)
  }
  await recomputeProviders(trx, userId, now)
}

interface NewAccount {
  claims: AccountClaims
  isVerified: boolean
  permit: CreationPermit
}

async function createAccount(
  { config, users }: AccountDeps,
  trx: Trx,
  connection: ScimConnectionRow,
  { claims, isVerified, permit }: NewAccount,
  now: Date,
): Promise<string> {
  const { email } = claims
  const isSso = connection.has_saml
  const isConfirmed = email !== null && (isSso || isVerified)
  const account = {
    permit,
    aud: config.AUTH_JWT_AUD,
    email,
    passwordHash: null,
    isSso,
    emailConfirmedAt: isConfirmed ? now : null,
    ...toAccountMetadata(connection, claims),
    identities: toScimIdentities(connection, claims, permit.userId, isConfirmed),
  }
  const created = await createUser(users, trx, account, now)
  if (created) return created.id
  throw uniqueness(
    'Another account has this email address, and it cannot be linked: the address is not confirmed, or its domain is not verified for this connection',
  )
}

export const uniqueness = (detail: string) => scimRejected(409, 'uniqueness', detail)
