/**
 * The authority of tenants over accounts: of organizations, their identity providers and their SCIM clients. None has
 * any over an account with a role on the server.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { hasAdminAmong } from '../../db/admins/admins.ts'
import type { Db } from '../../db/core/database.ts'
import { isTenantProvider } from '../../db/custom-providers/providers.ts'
import { isDomainOfTenant } from '../../db/scim/provider-domains.ts'
import type { UserRecord } from '../../db/users/users.ts'
import { adminRoleRequired } from '../../schemas/errors.ts'
import { findConfirmedAddress, hasConfirmedIdentifier } from './confirmed-address.ts'

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
