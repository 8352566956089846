/**
 * What the provider of a tenant asserts, the accounts that it may be linked to and open, and which providers' users are
 * matched by their addresses.
 */
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../db/core/database.ts'
import type { IdentityRow } from '../../db/tables/identities.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import { providerNotAccepted } from '../../schemas/errors.ts'
import {
  hasServerRole,
  isAddressOfTenant,
  isProviderOfTenant,
  mayLinkAccount,
  mayOpenAccount,
} from '../access/index.ts'
import { readAssertedAddress, toStoredAddress } from './emails.ts'
import type { CheckedExternalUser, ExternalUser } from './types.ts'

/**
 * The provider of a tenant verifies addresses in domains of the tenant only. In a linking domain of its own it may
 * assert any: its users are matched with no others.
 */
export async function checkAssertions(
  app: FastifyInstance,
  db: Db,
  user: ExternalUser,
): Promise<CheckedExternalUser> {
  const { provider, identity } = user
  const isOfTenant = await isProviderOfTenant(db, provider)
  if (!isOfTenant || isSsoProvider(app, provider)) return { ...user, isOfTenant }
  const emails: ProviderIdentity['emails'] = []
  for (const each of identity.emails) {
    const address = toStoredAddress(each.email)
    const isOwn = address !== undefined && (await isAddressOfTenant(app, db, provider, address))
    emails.push({ ...each, verified: each.verified && isOwn })
  }
  const { email } = identity.claims
  const isPrimaryVerified = emails.some((each) => each.verified && each.email === email)
  const claims = { ...identity.claims, email_verified: isPrimaryVerified }
  return { ...user, isOfTenant, identity: { ...identity, emails, claims } }
}

/**
 * Before the provider of a tenant is linked by hand, or by an invitation. A user without an address gets that of the
 * provider. Throws provider_not_accepted.
 */
export async function requireLinkable(
  app: FastifyInstance,
  db: Db,
  user: UserRecord,
  external: CheckedExternalUser,
): Promise<void> {
  if (!external.isOfTenant) return
  const { provider } = external
  const asserted = readAssertedAddress(external.identity)
  const isLinkable =
    user.email || asserted === null
      ? await mayLinkAccount(app, db, user, { provider, asserted })
      : (await isAddressOfTenant(app, db, provider, asserted)) &&
        !(await hasServerRole(app, db, user.id))
  if (!isLinkable) throw providerNotAccepted()
}

/**
 * At each sign-in by an identity that exists, since address, domain and role can change: a custom provider opens the
 * accounts that it made, and others by their address. SAML providers are checked by their module. Throws
 * provider_not_accepted.
 */
export async function requireOpenable(
  app: FastifyInstance,
  db: Db,
  { user, identity }: { user: UserRecord; identity: IdentityRow },
  external: CheckedExternalUser,
): Promise<void> {
  const { provider, isOfTenant } = external
  if (!isOfTenant || provider.startsWith('sso:')) return
  const asserted = readAssertedAddress(external.identity)
  const isOpenable = isMadeBy(user, identity)
    ? !(await hasServerRole(app, db, user.id))
    : await mayOpenAccount(app, db, user, { provider, asserted })
  if (!isOpenable) throw providerNotAccepted()
}

/** GoTrue inserts the two rows some milliseconds apart. */
const maxApartMs = 1000

/** Whether the account was made with this identity, its first one. */
function isMadeBy(user: UserRecord, { created_at: at }: IdentityRow): boolean {
  if (user.is_sso_user) return true
  if (!at || !user.created_at || at.getTime() - user.created_at.getTime() > maxApartMs) return false
  return user.identities.every(({ created_at }) => created_at && new Date(created_at) >= at)
}

/** Accounts are matched within a linking domain; users with passwords are in this one. */
export const defaultDomain = 'default'

/** The configured domain of the provider; one of its own for SAML and for those that are listed. */
export function getLinkingDomain({ config }: FastifyInstance, provider: string): string {
  const configured = config.AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS[provider]
  if (configured !== undefined) return configured
  const own = config.AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN
  return own.includes(provider) || provider.startsWith('sso:') ? provider : defaultDomain
}

/** True for SSO providers: their users are never matched with others. */
export function isSsoProvider(app: FastifyInstance, provider: string): boolean {
  return getLinkingDomain(app, provider) !== defaultDomain
}
