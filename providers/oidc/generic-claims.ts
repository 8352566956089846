/** The standard claims of OpenID Connect (Core §5.1), copied unchanged. */
import { email } from '../core/identity.ts'
import type { Claims, Profile } from '../core/types.ts'
import { asBoolean, asRecord, asText, withoutClaims } from '../http/json.ts'

const copied = [
  'iss',
  'sub',
  'name',
  'family_name',
  'given_name',
  'middle_name',
  'nickname',
  'preferred_username',
  'profile',
  'picture',
  'website',
  'gender',
  'birthdate',
  'zoneinfo',
  'locale',
  'phone',
  'full_name',
  'avatar_url',
  'slug',
  'provider_id',
  'user_name',
]

/** A value of an unexpected type is left out. `verified`: the provider verifies every address. */
export function genericProfile(
  claims: Claims,
  { verified = asBoolean(claims.email_verified) }: { verified?: boolean } = {},
): Profile {
  const texts = copied.map((name) => [name, asText(claims[name])])
  return {
    sub: asText(claims.sub),
    claims: {
      ...Object.fromEntries(texts),
      aud: [claims.aud].flat().filter((entry) => typeof entry === 'string'),
      ...times(claims),
      phone_verified: asBoolean(claims.phone_verified),
      custom_claims: asRecord(claims.custom_claims),
    },
    emails: email(asText(claims.email), { verified }),
  }
}

/** Every other claim, for `custom_claims`. */
export function otherClaims(claims: Claims, known: readonly string[]): Claims {
  return { custom_claims: withoutClaims(claims, known) }
}

function times({ iat, exp, updated_at }: Claims): Claims {
  return {
    ...(typeof iat === 'number' && { iat }),
    ...(typeof exp === 'number' && { exp }),
    updated_at: typeof updated_at === 'number' ? toIsoTime(updated_at) : asText(updated_at),
  }
}

function toIsoTime(seconds: number): string {
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
