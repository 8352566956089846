/** Validates an identity provider's fields from an admin. Throws validation_failed. */
import { validationFailed } from '../../schemas/errors.ts'
import type { SsoProviderInput } from '../../schemas/sso-provider.ts'

const nameIdFormats = [
  'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
  'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
]

/** Claims that clients expect to be a string. */
const textClaims = [
  ...['email', 'name', 'family_name', 'given_name', 'middle_name', 'nickname'],
  ...['preferred_username', 'profile', 'picture', 'website', 'gender', 'birthdate', 'zoneinfo'],
  ...['locale', 'phone', 'full_name', 'avatar_url', 'slug', 'provider_id', 'user_name'],
]

export function checkSamlFields({
  name_id_format: format,
  attribute_mapping,
}: SsoProviderInput): void {
  if (format && !nameIdFormats.includes(format)) {
    throw validationFailed(`name_id_format must be one of ${nameIdFormats.join(', ')}`)
  }
  for (const [claim, rule] of Object.entries(attribute_mapping?.keys ?? {})) {
    if (!textClaims.includes(claim)) continue
    const isText = rule.default === undefined || typeof rule.default === 'string'
    if (rule.array || !isText) {
      throw validationFailed(`attribute_mapping: ${claim} must be a single string`)
    }
  }
}
