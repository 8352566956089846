/** What a provider tells of a person, as far as it is kept. */
import type { House } from '../../define-plugin.ts'
import type { Identity } from '../../oauth-providers.ts'
import type { OauthPerson } from './oauth-sign-in.ts'

/** Half of what the longest access token holds, which has to carry the rest of the metadata too. */
const maxBytes = 6144

/** By these somebody is known again; providers bound them themselves. */
const essential = ['sub', 'provider_id', 'iss', 'email', 'email_verified', 'phone_verified']

/** The longest claims are left out where all together are too long: a provider's word is no reason to refuse anybody. */
export function withCappedClaims({ config }: House<'config'>, person: OauthPerson): OauthPerson {
  const { identity } = person
  const most = Math.min(maxBytes, config.AUTH_USER_METADATA_MAX_BYTES)
  return { ...person, identity: { ...identity, claims: capped(identity.claims, most) } }
}

function capped(claims: Identity['claims'], most: number): Identity['claims'] {
  const bySize = Object.entries(claims)
    .map(([key, value]) => ({ key, size: essential.includes(key) ? 0 : sizeOf(key, value) }))
    .toSorted((left, right) => left.size - right.size)
  let total = 0
  const kept = new Set<string>()
  for (const { key, size } of bySize) {
    total += size
    if (total <= most) kept.add(key)
  }
  return Object.fromEntries(Object.entries(claims).filter(([key]) => kept.has(key)))
}

function sizeOf(key: string, value: unknown): number {
  return Buffer.byteLength(JSON.stringify({ [key]: value }))
}
