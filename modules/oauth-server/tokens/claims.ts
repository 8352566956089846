/** User claims, by scope and individually (OpenID Connect Core §5.1, §5.4, §5.5). */
import type { Config } from '../../../config/groups/index.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import { isRecord } from '../../../schemas/values/record.ts'

type Claims = Record<string, unknown>
type ClaimsConfig = Pick<Config, 'AUTH_USERNAMES_ENABLED'>

const profileNames = [
  ...['name', 'given_name', 'family_name', 'nickname', 'picture', 'preferred_username'],
  ...['locale', 'zoneinfo', 'website', 'updated_at'],
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
export function idTokenClaims(
  config: ClaimsConfig,
  user: UserRecord,
  scopes: readonly string[],
  names: readonly string[],
): Claims {
  return {
    email_verified: user.email_confirmed_at !== null,
    phone_number_verified: user.phone_confirmed_at !== null,
    ...grantedClaims(config, user, scopes, names),
  }
}

/** UserInfo claims. Phone numbers have GoTrue's names and the standard ones. */
export function userinfoClaims(
  config: ClaimsConfig,
  user: UserRecord,
  scopes: readonly string[],
  names: readonly string[],
): Claims {
  const claims = grantedClaims(config, user, scopes, names)
  const { phone_number: phone, phone_number_verified: isVerified } = claims
  return {
    ...claims,
    ...(scopes.includes('phone') && phone !== undefined && { phone, phone_verified: isVerified }),
    ...(scopes.includes('profile') && { user_metadata: user.raw_user_meta_data ?? {} }),
  }
}

function grantedClaims(
  config: ClaimsConfig,
  user: UserRecord,
  scopes: readonly string[],
  names: readonly string[],
): Claims {
  const granted = new Set([...scopes.flatMap((scope) => byScope[scope] ?? []), ...names])
  return Object.fromEntries(
    Object.entries(allClaims(config, user)).filter(([name]) => granted.has(name)),
  )
}

/** Claims without a value are omitted (§5.3.2). */
function allClaims(config: ClaimsConfig, user: UserRecord): Claims {
  const { email, phone, raw_user_meta_data: metadata } = user
  const address = addressIn(metadata?.address)
  return {
    ...buildProfile(config, user),
    ...(email && { email, email_verified: user.email_confirmed_at !== null }),
    ...(phone && { phone_number: phone, phone_number_verified: user.phone_confirmed_at !== null }),
    ...(address && { address }),
  }
}

function buildProfile(
  { AUTH_USERNAMES_ENABLED: hasUsernames }: ClaimsConfig,
  { email, raw_app_meta_data, raw_user_meta_data: metadata, updated_at }: UserRecord,
): Claims {
  const [name, picture, username] = [
    textIn(metadata, 'name') ?? textIn(metadata, 'full_name') ?? (email || undefined),
    textIn(metadata, 'picture') ?? textIn(metadata, 'avatar_url'),
    // Users write user_metadata themselves, so that it could name the username of another user.
    hasUsernames
      ? textIn(raw_app_meta_data, 'preferred_username')
      : (textIn(metadata, 'preferred_username') ?? textIn(metadata, 'username')),
  ]
  const copied = profileNames.filter((each) => each !== 'preferred_username')
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

const addressNames = [
  ...['formatted', 'street_address', 'locality', 'region', 'postal_code', 'country'],
]

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
