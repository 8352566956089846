/**
 * OpenID Connect providers with names of the operator's choice: `AUTH_EXTERNAL_OIDC_<NAME>_ISSUER` and the fields that
 * every provider has.
 */
import { Type } from '@sinclair/typebox'

import { booleanField, enumField, group, listField, secret, url } from '../core/fields.ts'

const { Optional } = Type

export const genericOidcFields = group('Other OpenID Connect providers', {
  ISSUER: url('Issuer of the provider. The discovery document is read from it.', {
    'x-type': 'link',
    'x-example': 'https://id.example.com',
  }),
  ENABLED: booleanField('Disables the provider if false.', true),
  CLIENT_ID: listField(
    'Client ids. The first is used in the browser, and each is accepted in ID tokens.',
    {
      default: [],
    },
  ),
  SECRET: Optional(secret('Client secret of the provider.')),
  REDIRECT_URI: Optional(
    url(
      'Address of `/callback` on this server, or of `/providers/<name>/callback`, as registered at the provider.',
      {
        'x-type': 'link',
      },
    ),
  ),
  SCOPES: listField('Requested scopes, separated by commas.', {
    default: ['openid', 'email', 'profile'],
  }),
  EMAIL_OPTIONAL: booleanField('Accepts users without an email address.', false),
  SKIP_NONCE_CHECK: booleanField('Accepts ID tokens without verifying their nonce.', false),
  ID_TOKEN_SIGNED_RESPONSE_ALG: Optional(
    enumField(
      'Also accepts ID tokens that the provider signs with the client secret, which then needs 32 bytes.',
      ['HS256'],
    ),
  ),
  ID_TOKEN_ONLY: booleanField('Accepts ID tokens only, so that no secret is required.', false),
})

export type GenericOidcField = keyof typeof genericOidcFields

/** Values of variables whose names the operator chooses. */
export type GenericOidcValues = {
  [name: `AUTH_EXTERNAL_OIDC_${string}`]: string | string[] | boolean | number | undefined
}

const fields = Object.keys(genericOidcFields).join('|')
const genericOidcPattern = new RegExp(`^AUTH_EXTERNAL_OIDC_([A-Z0-9_]+)_(${fields})$`)

/** The provider's name (`ACME`) and the field of such a variable. */
export function genericOidcVariable(variable: string): [string, GenericOidcField] | undefined {
  const [, name, field] = genericOidcPattern.exec(variable) ?? []
  return name !== undefined && field !== undefined && field in genericOidcFields
    ? [name, field as GenericOidcField]
    : undefined
}

/** Distinct provider names, as spelled in the variables. */
export function genericOidcNames(variables: Iterable<string>): string[] {
  const names = new Set<string>()
  for (const variable of variables) {
    const found = genericOidcVariable(variable)
    if (found !== undefined) names.add(found[0])
  }
  return [...names].sort()
}
