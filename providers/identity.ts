/** From a provider's profile to the identity that is stored. */
import {
  type Claims,
  type Identity,
  type Profile,
  type ProviderEmail,
  ProviderError,
} from './provider.ts'
import { isStorable, storableRecord } from './storable.ts'
import type { Tokens } from './token-reply.ts'

/** The claims most providers fill: id, name and picture under every name that clients read. */
export function person(id: string, name: string, picture = ''): Claims {
  return { sub: id, provider_id: id, name, full_name: name, picture, avatar_url: picture }
}

/** No entry for an empty address. `verified`: the provider has proven that it is the person's. */
export function email(
  address: string,
  { verified, primary = true }: { verified: boolean; primary?: boolean },
): ProviderEmail[] {
  return address.trim() === '' ? [] : [{ email: address, verified, primary }]
}

export function fullName(first: string, last: string): string {
  return `${first} ${last}`.trim()
}

/** An index holds no longer ones. Those of OpenID Connect have 255 characters at most (Core §2). */
const maxIdLength = 1_000

/** What nobody can have an account with (schemas/fields.ts) is left out. */
const maxAddressBytes = 255

/** Throws ProviderError profile when the person has no id, or none that can be stored as it is. */
export function toIdentity(profile: Profile, tokens?: Tokens): Identity {
  const { sub } = profile
  if (sub === '') throw new ProviderError('profile', 'the profile has no user id')
  if (sub.length > maxIdLength || !isStorable(sub)) {
    throw new ProviderError('profile', 'the user id is too long or no text')
  }
  const emails = profile.emails
    .filter((entry) => isStorable(entry.email))
    .map(normalise)
    .filter(hasLengthOfAddress)
  const chosen = emails.find((entry) => entry.primary) ?? emails.at(-1)
  const claims = present({
    ...storableRecord(profile.claims),
    email: chosen?.email,
    email_verified: chosen?.verified ?? profile.claims.email_verified === true,
    phone_verified: profile.claims.phone_verified === true,
  })
  return { providerId: sub, claims, emails, ...(tokens && kept(tokens)) }
}

/** As long as an address may be, and no longer: an index holds it. */
function hasLengthOfAddress({ email: address }: ProviderEmail): boolean {
  return address !== '' && Buffer.byteLength(address) <= maxAddressBytes
}

function kept({ accessToken, refreshToken }: Tokens) {
  return {
    ...(isStorable(accessToken) && { providerToken: accessToken }),
    ...(refreshToken !== '' && isStorable(refreshToken) && { providerRefreshToken: refreshToken }),
  }
}

function normalise({ email: address, verified, primary }: ProviderEmail): ProviderEmail {
  const trimmed = address.trim()
  const normal = trimmed.normalize('NFKC').toLowerCase()
  // The provider proved the address as it was written. When folding Unicode makes another
  // mailbox of it (a look-alike letter becoming ASCII), nobody has proven that one.
  const same = normal === trimmed.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return { email: normal, verified: verified && same, primary }
}

function present(claims: Claims): Claims {
  const kept = Object.entries(claims).filter(([, value]) => !isEmpty(value))
  return Object.fromEntries(kept)
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
