/** What a provider tells of a person, as far as it is kept. */
import { isRecord } from '../../../schemas/record.ts'
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

type Claims = Identity['claims']

function capped({ custom_claims, ...claims }: Claims, most: number): Claims {
  // One long list of groups is no reason to lose the other claims beside it.
  const custom = Object.entries(isRecord(custom_claims) ? custom_claims : {})
  const all = [
    ...Object.entries(claims).map(([key, value]) => ({ key, value, isCustom: false })),
    ...custom.map(([key, value]) => ({ key, value, isCustom: true })),
  ]
  const kept = shortest(all, most)
  const named = kept.filter(({ isCustom }) => !isCustom)
  const others = kept.filter(({ isCustom }) => isCustom)
  return { ...toRecord(named), ...(others.length > 0 && { custom_claims: toRecord(others) }) }
}

interface Claim {
  key: string
  value: unknown
  isCustom: boolean
}

/** As many as fit, the shorter ones first, in the order they came in. */
function shortest(claims: readonly Claim[], most: number): Claim[] {
  const bySize = claims
    .map((claim) => ({ claim, size: sizeOf(claim) }))
    .toSorted((left, right) => left.size - right.size)
  let total = 0
  const kept = new Set<Claim>()
  for (const { claim, size } of bySize) {
    total += size
    if (total <= most) kept.add(claim)
  }
  return claims.filter((claim) => kept.has(claim))
}

function sizeOf({ key, value, isCustom }: Claim): number {
  if (!isCustom && essential.includes(key)) return 0
  return Buffer.byteLength(JSON.stringify({ [key]: value }))
}

function toRecord(claims: readonly Claim[]): Claims {
  return Object.fromEntries(claims.map(({ key, value }) => [key, value]))
}
