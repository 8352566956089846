/** User claims, by scope and individually (OpenID Connect Core §5.1, §5.4, §5.5). */
import type { Config } from '../../../config/groups/index.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import {
  revealsContact,
  type SharedContacts,
  shareMetadata,
  type VerifiedContacts,
} from '../../../schemas/oauth/shared-metadata.ts'
import { isRecord } from '../../../schemas/values/record.ts'

type Claims = Record<string, unknown>
type ClaimsConfig = Pick<Config, 'AUTH_USERNAMES_ENABLED'>

/** A user, and which of their contacts are verified. */
interface Subject {
  user: UserRecord
  verified: VerifiedContacts
}

/** Granted scopes, and individually requested claims. */
interface Granted {
  scopes: readonly string[]
  names: readonly string[]
}

const profileNames = [
  'name',
  'given_name',
  'family_name',
  'nickname',
  'picture',
  'preferred_username',
  'locale',
  'zoneinfo',
  'website',
  'updated_at',
]

const byScope: Record<string, readonly string[]> = {
  profile: profileNames,
  email: ['email', 'email_verified'],
  phone: ['phone_number', 'phone_number_verified'],
  address: ['address'],
}

/** Claims that can be requested individually. */
export const userClaims = Object.values(byScope).flat()

/** The scope of a claim; undefined for an unsupported one. */
export function scopeOfClaim(claim: string): string | undefined {
  return Object.keys(byScope).find((scope) => byScope[scope]?.includes(claim))
}

/** ID token claims. Both `_verified` claims are always included, as GoTrue's clients expect. */
export function idTokenClaims(config: ClaimsConfig, subject: Subject, granted: Granted): Claims {
  const { verified } = subject
  return {
    email_verified: verified.email,
    phone_number_verified: verified.phone,
    ...grantedClaims(config, subject, granted),
  }
}

/** UserInfo claims. Phone numbers have GoTrue's names and the standard ones. */
export function userinfoClaims(config: ClaimsConfig, subject: Subject, granted: Granted): Claims {
  const { scopes } = granted
  const claims = grantedClaims(config, subject, granted)
  const { phone_number: phone, phone_number_verified: isVerified } = claims
  return {
    ...claims,
    ...(scopes.includes('phone') && phone !== undefined && { phone, phone_verified: isVerified }),
    ...(scopes.includes('profile') && { user_metadata: readMetadata(subject, granted) }),
  }
}

function readMetadata({ user, verified }: Subject, granted: Granted): Claims {
  const { email, phone, raw_user_meta_data: metadata } = user
  return shareMetadata({ email, phone, metadata }, listShared(granted), verified)
}

function listShared({ scopes, names }: Granted): SharedContacts {
  const isGranted = (scope: string) =>
    scopes.includes(scope) || names.some((name) => scopeOfClaim(name) === scope)
  return {
    email: isGranted('email'),
    phone: isGranted('phone'),
    address: isGranted('address'),
  }
}

/** The scope `profile` reveals no address, although the metadata may have one as a name (§5.4). */
function grantedClaims(config: ClaimsConfig, subject: Subject, granted: Granted): Claims {
  const { scopes, names } = granted
  const shown = new Set([...scopes.flatMap((scope) => byScope[scope] ?? []), ...names])
  const shared = listShared(granted)
  const claims = allClaims(config, subject, shared)
  const isHidden = (name: string, value: unknown) =>
    profileNames.includes(name) &&
    typeof value === 'string' &&
    revealsContact(value, subject.user, shared)
  return Object.fromEntries(
    Object.entries(claims).filter(([name, value]) => shown.has(name) && !isHidden(name, value)),
  )
}

/** Claims without a value are omitted (§5.3.2). */
function allClaims(
  config: ClaimsConfig,
  { user, verified }: Subject,
  shared: SharedContacts,
): Claims {
  const { email, phone, raw_user_meta_data: metadata } = user
  const address = addressIn(metadata?.address)
  return {
    ...buildProfile(config, user, shared),
    ...(email && { email, email_verified: verified.email }),
    ...(phone && { phone_number: phone, phone_number_verified: verified.phone }),
    ...(address && { address }),
  }
}

function buildProfile(
  { AUTH_USERNAMES_ENABLED: hasUsernames }: ClaimsConfig,
  user: UserRecord,
  shared: SharedContacts,
): Claims {
  const { email, raw_app_meta_data, raw_user_meta_data: metadata, updated_at } = user
  const isShown = (value: string | undefined) => value && !revealsContact(value, user, shared)
  const names = [textIn(metadata, 'name'), textIn(metadata, 'full_name'), email ?? undefined]
  const [name, picture, username] = [
    names.find(isShown),
    textIn(metadata, 'picture') ?? textIn(metadata, 'avatar_url'),
    // Users write user_metadata themselves, so that it could name the username of another user.
    hasUsernames
      ? textIn(raw_app_meta_data, 'preferred_username')
      : (textIn(metadata, 'preferred_username') ?? textIn(metadata, 'username')),
  ]
  const copied = profileNames.filter((each) => each !== 'preferred_username' && each !== 'name')
  const own = copied.flatMap((each) => {
    const value = textIn(metadata, each)
    return value === undefined ? [] : [[each, value] as const]
  })
  return {
    ...Object.fromEntries(own),
    ...(name && { name }),
    ...(picture && { picture }),
    ...(username && { preferred_username: username }),
    ...(updated_at && { updated_at: Math.floor(updated_at.getTime() / 1000) }),
  }
}

const addressNames = ['formatted', 'street_address', 'locality', 'region', 'postal_code', 'country']

/** §5.1.1; a string is the formatted address. */
function addressIn(stored: unknown): Record<string, string> | undefined {
  if (typeof stored === 'string' && stored !== '') return { formatted: stored }
  const parts = addressNames.flatMap((name) => {
    const value = isRecord(stored) ? textIn(stored, name) : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  return parts.length > 0 ? Object.fromEntries(parts) : undefined
}

function textIn(metadata: object | null | undefined, name: string): string | undefined {
  const value: unknown = isRecord(metadata) ? metadata[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}
