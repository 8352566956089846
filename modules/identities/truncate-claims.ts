/** Limits the size of a provider's claims. */
import type { Deps } from '../../plugins/define-plugin.ts'
import type { ProviderIdentity } from '../../plugins/outgoing/oauth-providers/index.ts'
import { isRecord } from '../../schemas/values/record.ts'
import type { ExternalUser } from './types.ts'

/** Half of the maximum access token, which also contains the other metadata. */
const maxBytes = 6144

/** Claims that identify a user; providers limit their size. */
const essential = ['sub', 'provider_id', 'iss', 'email', 'email_verified', 'phone_verified']

/** Drops the largest claims above the limit instead of rejecting the user. */
export function truncateClaims({ config }: Deps<'config'>, user: ExternalUser): ExternalUser {
  const { identity } = user
  const maxBytesLeft = Math.min(maxBytes, config.AUTH_USER_METADATA_MAX_BYTES)
  return { ...user, identity: { ...identity, claims: capped(identity.claims, maxBytesLeft) } }
}

type Claims = ProviderIdentity['claims']

function capped({ custom_claims, ...claims }: Claims, maxBytesLeft: number): Claims {
  // A long list of groups must not displace the other claims.
  const custom = Object.entries(isRecord(custom_claims) ? custom_claims : {})
  const all = [
    ...Object.entries(claims).map(([key, value]) => ({ key, value, isCustom: false })),
    ...custom.map(([key, value]) => ({ key, value, isCustom: true })),
  ]
  const kept = shortest(all, maxBytesLeft)
  const named = kept.filter(({ isCustom }) => !isCustom)
  const others = kept.filter(({ isCustom }) => isCustom)
  return { ...toRecord(named), ...(others.length > 0 && { custom_claims: toRecord(others) }) }
}

interface Claim {
  key: string
  value: unknown
  isCustom: boolean
}

/** As many as fit, the shorter ones first, in their original order. */
function shortest(claims: readonly Claim[], maxBytesLeft: number): Claim[] {
  const bySize = claims
    .map((claim) => ({ claim, size: computeSize(claim) }))
    .toSorted((left, right) => left.size - right.size)
  let total = 0
  const kept = new Set<Claim>()
  for (const { claim, size } of bySize) {
    total += size
    if (total <= maxBytesLeft) kept.add(claim)
  }
  return claims.filter((claim) => kept.has(claim))
}

function computeSize({ key, value, isCustom }: Claim): number {
  if (!isCustom && essential.includes(key)) return 0
  return Buffer.byteLength(JSON.stringify({ [key]: value }))
}

function toRecord(claims: readonly Claim[]): Claims {
  return Object.fromEntries(claims.map(({ key, value }) => [key, value]))
}
