/** Resolves the account of an identity. */
import type { Db } from '../../db/core/database.ts'
import { findIdentity } from '../../db/identities/identities.ts'
import type { IdentityRow } from '../../db/tables/identities.ts'
import {
  findIdentifierOwners,
  findIdentityOwners,
  isTaken,
} from '../../db/users/identifier-owners.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import type { AccountEmails } from './emails.ts'

type Decision =
  | { state: 'exists'; identity: IdentityRow }
  | { state: 'link'; userId: string }
  | { state: 'create' }
  /** Verified emails of one provider account belong to two users. */
  | { state: 'several' }
  /** The email belongs to a user and is unverified. */
  | { state: 'owned' }

interface AccountQuery {
  provider: string
  providerId: string
  addresses: AccountEmails
  aud: string
}

/** Accounts are matched within a linking domain; users with passwords are in this one. */
const defaultDomain = 'default'

export async function resolveAccount(
  deps: Deps<'config'>,
  db: Db,
  query: AccountQuery,
): Promise<Decision> {
  const { provider, providerId, addresses, aud } = query
  const identity = await findIdentity(db, provider, providerId)
  if (identity) return { state: 'exists', identity }
  const [owner, ...others] = await findOwners(deps, db, query)
  if (others.length > 0) return { state: 'several' }
  if (owner) return { state: 'link', userId: owner }
  const { primary, verified } = addresses
  if (primary === null || verified.includes(primary)) return { state: 'create' }
  const taken = await isTaken(db, primary, aud, null)
  return { state: taken ? 'owned' : 'create' }
}

/** Whether the identity is to be linked to this user. */
export async function isOwner(
  deps: Deps<'config'>,
  db: Db,
  query: AccountQuery,
  userId: string,
): Promise<boolean> {
  const decision = await resolveAccount(deps, db, query)
  return decision.state === 'link' && decision.userId === userId
}

/** True for SSO providers: their users are never matched with others. */
export function isSsoProvider(deps: Deps<'config'>, provider: string): boolean {
  return getLinkingDomain(deps, provider) !== defaultDomain
}

/**
 * An email verified by a provider or its owner identifies a user. Unverified emails count only when there is no other
 * match: the account is then cleared of earlier credentials.
 */
async function findOwners(
  deps: Deps<'config'>,
  db: Db,
  { provider, addresses: { verified }, aud }: AccountQuery,
): Promise<string[]> {
  if (verified.length === 0) return []
  const domain = getLinkingDomain(deps, provider)
  const identities = await findIdentityOwners(db, verified, aud)
  const linked = identities.filter((row) => getLinkingDomain(deps, row.provider) === domain)
  const users = domain === defaultDomain ? await findIdentifierOwners(db, verified, aud) : []
  const confirmed = users.filter(
    (user) => user.email_confirmed_at !== null && !user.is_autoconfirmed,
  )
  const verifiedOwners = [...linked.map((row) => row.user_id), ...confirmed.map(({ id }) => id)]
  return [...new Set(verifiedOwners.length > 0 ? verifiedOwners : users.map(({ id }) => id))]
}

function getLinkingDomain({ config }: Deps<'config'>, provider: string): string {
  const configured = config.AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS[provider]
  if (configured !== undefined) return configured
  const own = config.AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN
  return own.includes(provider) || provider.startsWith('sso:') ? provider : defaultDomain
}
