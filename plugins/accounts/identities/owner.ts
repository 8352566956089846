/** Whose account a provider's identity belongs to. */
import { findAddressOwners, findIdentityOwners, isTaken } from '../../../db/address-owners.ts'
import type { Db } from '../../../db/database.ts'
import { findIdentity, type IdentityRow } from '../../../db/identities.ts'
import type { House } from '../../define-plugin.ts'
import type { Addresses } from './addresses.ts'

type Decision =
  | { state: 'exists'; identity: IdentityRow }
  | { state: 'link'; userId: string }
  | { state: 'create' }
  /** Proven addresses of one person that are two people's here. */
  | { state: 'several' }
  /** The address is somebody's, and nobody has proven it. */
  | { state: 'owned' }

interface Question {
  provider: string
  providerId: string
  addresses: Addresses
  aud: string
}

/** Accounts are matched within one linking domain; people with passwords are in this one. */
const defaultDomain = 'default'

export async function decide(
  house: House<'config'>,
  db: Db,
  question: Question,
): Promise<Decision> {
  const { provider, providerId, addresses, aud } = question
  const identity = await findIdentity(db, provider, providerId)
  if (identity) return { state: 'exists', identity }
  const [owner, ...others] = await ownersOf(house, db, question)
  if (others.length > 0) return { state: 'several' }
  if (owner) return { state: 'link', userId: owner }
  const { primary, verified } = addresses
  if (primary === null || verified.includes(primary)) return { state: 'create' }
  const taken = await isTaken(db, primary, aud, null)
  return { state: taken ? 'owned' : 'create' }
}

/** Whether the identity is to be linked to this person. */
export async function isOwner(
  house: House<'config'>,
  db: Db,
  question: Question,
  userId: string,
): Promise<boolean> {
  const decision = await decide(house, db, question)
  return decision.state === 'link' && decision.userId === userId
}

/** True for the people of an organization: they are never matched with anybody else's. */
export function hasOwnDomain(house: House<'config'>, provider: string): boolean {
  return domainOf(house, provider) !== defaultDomain
}

/**
 * An address that a provider proved, or that its owner confirmed, says who somebody is. Addresses that nobody proved
 * count only when no other trace is left: their account is then cleared of whoever made it.
 */
async function ownersOf(
  house: House<'config'>,
  db: Db,
  { provider, addresses: { verified }, aud }: Question,
): Promise<string[]> {
  if (verified.length === 0) return []
  const domain = domainOf(house, provider)
  const identities = await findIdentityOwners(db, verified, aud)
  const linked = identities.filter((row) => domainOf(house, row.provider) === domain)
  const people = domain === defaultDomain ? await findAddressOwners(db, verified, aud) : []
  const confirmed = people.filter((person) => person.email_confirmed_at !== null)
  const proven = [...linked.map((row) => row.user_id), ...confirmed.map(({ id }) => id)]
  return [...new Set(proven.length > 0 ? proven : people.map(({ id }) => id))]
}

function domainOf({ config }: House<'config'>, provider: string): string {
  const configured = config.AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS[provider]
  if (configured !== undefined) return configured
  const own = config.AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN
  return own.includes(provider) || provider.startsWith('sso:') ? provider : defaultDomain
}
