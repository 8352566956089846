/** The claims of custom providers (`attribute_mapping`, `custom_claims_allowlist`). */
import type { Claims, CustomSettings, Profile } from './core/types.ts'
import { asRecord, getPath } from './http/json.ts'
import { genericProfile } from './oidc/generic-claims.ts'

/** For an OpenID provider: subject and email come from the provider, whatever is mapped. */
export function openidProfile(claims: Claims, custom: CustomSettings | undefined): Profile {
  const standard = genericProfile(claims)
  if (!custom) return standard
  const { sub: _, ...mapping } = custom.attributeMapping
  const profile = mappedProfile(claims, { ...custom, attributeMapping: mapping })
  return { ...profile, sub: standard.sub, emails: standard.emails }
}

/** For an OAuth 2.0 provider, whose userinfo has no standard form. */
export function mappedProfile(claims: Claims, custom: CustomSettings): Profile {
  const { attributeMapping: mapping, claimsAllowlist } = custom
  const mapped = Object.entries(mapping).flatMap(([target, source]): [string, unknown][] => {
    const value = typeof source === 'string' ? findClaim(claims, source) : source
    return value === undefined ? [] : [[target, value]]
  })
  // The provider verified the address in `email`, not that of a mapped field.
  const isAnotherEmail = 'email' in mapping && mapping.email !== 'email'
  const all = {
    ...claims,
    ...Object.fromEntries(mapped),
    ...(isAnotherEmail && { email_verified: false }),
  }
  const profile = genericProfile(all)
  const unknown = mapped.filter(([target]) => !(target in profile.claims) && target !== 'email')
  const allowed = claimsAllowlist
    .filter((name) => Object.hasOwn(claims, name))
    .map((name): [string, unknown] => [name, claims[name]])
  const custom_claims = {
    ...asRecord(profile.claims.custom_claims),
    ...Object.fromEntries([...unknown, ...allowed]),
  }
  return { ...profile, claims: { ...profile.claims, custom_claims } }
}

/** The field of this name, or else the one at this dotted path: `account.email`, `emails.0.value`. */
function findClaim(claims: Claims, source: string): unknown {
  return Object.hasOwn(claims, source) ? claims[source] : getPath(claims, ...source.split('.'))
}
