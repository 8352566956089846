/** Converts a provider's profile to a stored identity. */
import { domainToASCII } from 'node:url'

import { ProviderError } from './provider-error.ts'
import type { Claims, Profile, ProviderEmail, ProviderIdentity, Tokens } from './types.ts'

/** The common claims: id, name and picture under every name that clients read. */
export function toProfileNames(id: string, name: string, picture = ''): Claims {
  return { sub: id, provider_id: id, name, full_name: name, picture, avatar_url: picture }
}

/** Returns no entry for an empty address. `verified`: the provider has verified it. */
export function email(
  address: string,
  { verified, primary = true }: { verified: boolean; primary?: boolean },
): ProviderEmail[] {
  return address.trim() === '' ? [] : [{ email: address, verified, primary }]
}

export function fullName(first: string, last: string): string {
  return `${first} ${last}`.trim()
}

/** The maximum length in the database index. Ids of OpenID Connect have at most 255 characters (Core §2). */
const maxIdLength = 1_000

/** The maximum of schemas/fields.ts; longer addresses are left out. */
const maxAddressBytes = 255

/** Throws ProviderError profile when the id is missing or cannot be stored unchanged. */
export function toProviderIdentity(profile: Profile, tokens?: Tokens): ProviderIdentity {
  const { sub } = profile
  if (sub === '') throw new ProviderError('profile', 'the profile has no user id')
  if (sub.length > maxIdLength || !isPostgresText(sub)) {
    throw new ProviderError('profile', 'the user id is too long or not a string')
  }
  const emails = profile.emails
    .filter((entry) => isPostgresText(entry.email))
    .map(normalise)
    .filter(hasLengthOfAddress)
  const chosen = emails.find((entry) => entry.primary) ?? emails.at(-1)
  const claims = present({
    ...toPostgresJson(profile.claims),
    email: chosen?.email,
    email_verified: chosen?.verified ?? profile.claims.email_verified === true,
    phone_verified: profile.claims.phone_verified === true,
  })
  return { providerId: sub, claims, emails, ...(tokens && tokenFields(tokens)) }
}

/** False for an address that is too long for the database index. */
function hasLengthOfAddress({ email: address }: ProviderEmail): boolean {
  return address !== '' && Buffer.byteLength(address) <= maxAddressBytes
}

function tokenFields({ accessToken, refreshToken }: Tokens) {
  return {
    ...(isPostgresText(accessToken) && { providerToken: accessToken }),
    ...(refreshToken !== '' &&
      isPostgresText(refreshToken) && { providerRefreshToken: refreshToken }),
  }
}

function normalise({ email: written, verified, primary }: ProviderEmail): ProviderEmail {
  const { address, isSame } = foldAddress(written)
  return { email: address, verified: verified && isSame, primary }
}

function present(claims: Claims): Claims {
  const tokenFields = Object.entries(claims).filter(([, value]) => !isEmpty(value))
  return Object.fromEntries(tokenFields)
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

// Postgres stores neither NUL nor a lone surrogate, and no JSON deeper than its stack; JSON has no numbers beyond a
// double. Providers may send any of them.

const maxDepth = 32

/** Returns the value without parts that cannot be stored, or are nested deeper than 32 levels. */
function toPostgresText(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return assertPostgresText(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined
  if (typeof value !== 'object' || value === null) return value
  if (depth === maxDepth) return undefined
  if (Array.isArray(value)) {
    return value
      .map((entry) => toPostgresText(entry, depth + 1))
      .filter((entry) => entry !== undefined)
  }
  return toPostgresJson({ ...value }, depth)
}

/** The same for an object. */
function toPostgresJson(value: Record<string, unknown>, depth = 0): Record<string, unknown> {
  const entries = Object.entries(value).map(
    ([key, entry]) => [assertPostgresText(key), toPostgresText(entry, depth + 1)] as const,
  )
  return Object.fromEntries(entries.filter(([, entry]) => entry !== undefined))
}

/** For texts that must not be changed: ids, addresses, tokens. */
function isPostgresText(text: string): boolean {
  return text === assertPostgresText(text)
}

function assertPostgresText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}

interface Folded {
  /** Trimmed, NFKC, lower case, the host in ASCII (UTS 46). */
  address: string
  /** Whether it is the same mailbox: a look-alike letter that is folded to ASCII changes it. */
  isSame: boolean
}

/** Normalizes an email address, and decides whether a verification by the provider applies to the normalized form. */
function foldAddress(written: string): Folded {
  const trimmed = written.trim()
  const at = trimmed.lastIndexOf('@')
  if (at < 0) return { address: fold(trimmed), isSame: false }
  const [local, host] = [trimmed.slice(0, at), trimmed.slice(at + 1)]
  return { address: `${fold(local)}@${asciiHost(host)}`, isSame: isSameMailbox(trimmed) }
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase()
}

/** Composition and lower case keep the mailbox. A letter of another script must not become an ASCII letter. */
function isSameMailbox(address: string): boolean {
  const isComposedOnly = address.normalize('NFKC') === address.normalize('NFC')
  return isComposedOnly && ![...address].some(becomesAscii)
}

function becomesAscii(letter: string): boolean {
  return !isAscii(letter) && isAscii(fold(letter))
}

/** Mail servers resolve the host by the same rules (RFC 5891 §5.3). */
function asciiHost(host: string): string {
  return isAscii(host) ? host.toLowerCase() : domainToASCII(host.normalize('NFKC'))
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text)
}
