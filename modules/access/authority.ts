/**
 * The authority of tenants over accounts: of organizations, their identity providers and their SCIM clients. None has
 * any over an account with a role on the server. It depends on the identifiers that the account's holder has confirmed.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import {
  deletePreparedAccount,
  hasAdminAmong,
  insertPreparedAccounts,
  isPreparedAccount,
} from '../../db/admins/admins.ts'
import type { Db, Trx } from '../../db/core/database.ts'
import { isTenantProvider } from '../../db/custom-providers/providers.ts'
import { isDomainOfTenant } from '../../db/scim/provider-domains.ts'
import { isAutoconfirmed, listAssumedAddresses } from '../../db/users/autoconfirmed-addresses.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { adminRoleRequired, emailNotConfirmed } from '../../schemas/errors.ts'

/** Throws admin_role_required for an admin who is no owner. `what` begins the sentence. */
export function requireOwner({ adminRole }: Pick<FastifyRequest, 'adminRole'>, what: string): void {
  if (adminRole !== 'owner') throw adminRoleRequired('owner', adminRole, what)
}

/** Whether the account has a role on the server: in the table of admins, or that of its row. */
export function hasServerRole(
  { config }: FastifyInstance,
  db: Db,
  userId: string,
): Promise<boolean> {
  return hasAdminAmong(db, [userId], config.AUTH_JWT_ADMIN_ROLES)
}

/** Whether a tenant decides what the provider asserts: each SAML provider, and a custom one that is or was bound. */
export async function isProviderOfTenant(db: Db, provider: string): Promise<boolean> {
  if (provider.startsWith('sso:')) return true
  return provider.startsWith('custom:') && isTenantProvider(db, provider)
}

/** Whether the address is in a domain that the tenant of the provider has verified. */
export function isAddressOfTenant(
  { config }: FastifyInstance,
  db: Db,
  provider: string,
  address: string,
): Promise<boolean> {
  const hasOrganizations = config.AUTH_ORGANIZATIONS_ENABLED
  const domain = address.slice(address.lastIndexOf('@') + 1)
  return isDomainOfTenant(db, { provider, hasOrganizations }, domain)
}

/** The provider of a tenant, and the address that it asserts. */
interface Assertion {
  provider: string
  asserted: string | null
}

/**
 * Whether the provider of a tenant may open an account that it did not make: one with a confirmed address, as long as
 * the provider asserts this address and its tenant has the domain.
 */
export async function mayOpenAccount(
  app: FastifyInstance,
  db: Db,
  user: UserRecord,
  { provider, asserted }: Assertion,
): Promise<boolean> {
  const email = await findConfirmedAddress(db, user)
  if (email === undefined || email !== asserted) return false
  if (!(await isAddressOfTenant(app, db, provider, email))) return false
  return !(await hasServerRole(app, db, user.id))
}

/**
 * Whether the provider of a tenant may be linked to the account: one that it may open, or one that has the asserted
 * address and no holder, since no address and no number of it was confirmed.
 */
export async function mayLinkAccount(
  app: FastifyInstance,
  db: Db,
  user: UserRecord,
  { provider, asserted }: Assertion,
): Promise<boolean> {
  if (user.is_sso_user || asserted === null || user.email !== asserted) return false
  if (await hasConfirmedIdentifier(db, user)) {
    return mayOpenAccount(app, db, user, { provider, asserted })
  }
  if (!(await isAddressOfTenant(app, db, provider, asserted))) return false
  return !(await hasServerRole(app, db, user.id))
}

/** The confirmed address of an account that is no SSO account, whose address the provider of any tenant may claim. */
function findOwnAddress(user: UserRecord): string | undefined {
  const { email, email_confirmed_at, is_sso_user, is_anonymous } = user
  return email && email_confirmed_at && !is_sso_user && !is_anonymous ? email : undefined
}

/**
 * The confirmed address by which a tenant that has verified the domain finds an account. Not one that was autoconfirmed,
 * which may belong to another user; the assertion of a SCIM client counts, as the tenant has the domain.
 */
export async function findConfirmedAddress(db: Db, user: UserRecord): Promise<string | undefined> {
  const address = findOwnAddress(user)
  if (address === undefined) return undefined
  return (await isAutoconfirmed(db, { user_id: user.id, address })) ? undefined : address
}

/**
 * The address that its holder has proven, by which the user joins without the token of an invitation, or gets a role on
 * the server. Not one that only a setting, a tenant or an admin who changed it took as confirmed.
 */
export async function findProvenAddress(db: Db, user: UserRecord): Promise<string | undefined> {
  const address = findOwnAddress(user)
  if (address === undefined) return undefined
  return (await listAssumedAddresses(db, user.id)).includes(address) ? undefined : address
}

/** Whether a holder has confirmed the account's email or phone: it has an owner, and not only who signed up. */
export async function hasConfirmedIdentifier(
  db: Db,
  { id: user_id, email, phone, email_confirmed_at, phone_confirmed_at }: UserRecord,
): Promise<boolean> {
  const confirmed = [email_confirmed_at && email, phone_confirmed_at && phone]
  for (const address of confirmed) {
    if (address && !(await isAutoconfirmed(db, { user_id, address }))) return true
  }
  return false
}

/** Whether a holder has proven the account's email or phone. */
async function hasProvenIdentifier(
  db: Db,
  { id, email, phone, email_confirmed_at, phone_confirmed_at }: UserRecord,
): Promise<boolean> {
  const confirmed = [email_confirmed_at && email, phone_confirmed_at && phone]
  const assumed = await listAssumedAddresses(db, id)
  return confirmed.some((address) => address && !assumed.includes(address))
}

/**
 * Whether the account may get a role on the server: its holder has proven the address by which the owner of the server
 * knows it, or the number where there is no address. `isNamed`: the account itself is named, and may then be one that a
 * SAML provider made. Not one that an operator prepared (`recordPreparation`).
 */
export async function hasProvenHolder(
  db: Db,
  user: UserRecord,
  { isNamed }: { isNamed: boolean },
): Promise<boolean> {
  if (await isPreparedAccount(db, user.id)) return false
  if (isNamed && user.is_sso_user) return true
  if (user.email) return (await findProvenAddress(db, user)) !== undefined
  return hasProvenIdentifier(db, user)
}

/** As `hasProvenHolder`, for an account that exists. Throws email_not_confirmed. */
export async function requireProvenHolder(
  db: Db,
  user: UserRecord,
  account: { isNamed: boolean },
): Promise<void> {
  if (await hasProvenHolder(db, user, account)) return
  throw emailNotConfirmed(
    'A role on the server needs an address that the holder of the account has confirmed: by a link that is sent to it, or by a sign-in at a provider that has verified it. For an account that an operator created or gave its address, an owner confirms it (PUT /admin/users/{user_id} with email_confirm). POST /admin/admins makes a link by which the holder sets a password.',
    422,
  )
}

type ActingAdmin = Pick<FastifyRequest, 'adminRole'>

interface AdminChange {
  /** Undefined for a new account. */
  before: UserRecord | undefined
  after: UserRecord
  /** The admin states that the address or number is the holder's. */
  isStatement?: boolean
}

/**
 * After a change of an account by an admin, or a link that an admin got for it. An operator sets credentials and
 * addresses of every account without a role, and would have those of an owner when an owner gives a role to such an
 * account: so it needs its holder first, or an owner who confirms the address. What an operator does to an account with
 * a proven holder is told to the holder, unless it gives the account another address.
 */
export async function recordPreparation(
  trx: Trx,
  { adminRole }: ActingAdmin,
  { before, after, isStatement = false }: AdminChange,
  now: Date,
): Promise<void> {
  if (adminRole === 'owner') {
    if (isStatement) await deletePreparedAccount(trx, after.id)
    return
  }
  const keepsHolder = before && describe(before) === describe(after)
  if (keepsHolder && (await hasProvenHolder(trx, before, { isNamed: false }))) return
  await insertPreparedAccounts(trx, [after.id], now)
}

const describe = ({ email, phone, email_confirmed_at, phone_confirmed_at }: UserRecord): string =>
  JSON.stringify([email, phone, email_confirmed_at !== null, phone_confirmed_at !== null])

/** After an import by an admin. */
export async function recordPreparedImport(
  trx: Trx,
  { adminRole }: ActingAdmin,
  userIds: readonly string[],
  now: Date,
): Promise<void> {
  if (adminRole !== 'owner') await insertPreparedAccounts(trx, userIds, now)
}

/**
 * Whether the holder of the address may claim the account by a one-time link: no identifier of it was proven, or an
 * operator prepared it. Nothing that was set before remains then.
 */
export async function isClaimable(db: Db, user: UserRecord): Promise<boolean> {
  return (await isPreparedAccount(db, user.id)) || !(await hasProvenIdentifier(db, user))
}

/** The holder has claimed the account, and everything that was set before is removed. */
export const recordClaim = (trx: Trx, userId: string): Promise<void> =>
  deletePreparedAccount(trx, userId)
