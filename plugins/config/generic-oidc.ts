/**
 * Any number of OpenID Connect providers that the operator names:
 * `AUTH_EXTERNAL_OIDC_<NAME>_ISSUER` and the values every provider has.
 */
import { Type } from '@sinclair/typebox'

import { flag, group, list, secret, url } from './fields.ts'

const { Optional } = Type

export const genericOidcFields = group('Other OpenID Connect providers', {
  ISSUER: url('Issuer of the provider; its discovery document is read from there.', {
    'x-type': 'link',
    'x-example': 'https://id.example.com',
  }),
  ENABLED: flag('Turns the provider off when false.', true),
  CLIENT_ID: list('Client ids, the first for the browser, each accepted in ID tokens.', {
    default: [],
  }),
  SECRET: Optional(secret('Client secret from the provider.')),
  REDIRECT_URI: Optional(
    url('Address of our `/callback`, as registered with the provider.', { 'x-type': 'link' }),
  ),
  SCOPES: list('Scopes asked for, separated by commas.', {
    default: ['openid', 'email', 'profile'],
  }),
  EMAIL_OPTIONAL: flag('Lets people in of whom the provider tells no e-mail address.', false),
  SKIP_NONCE_CHECK: flag('Accepts ID tokens whose nonce cannot be checked.', false),
  ID_TOKEN_ONLY: flag('Only ID tokens are accepted, so that no secret is needed.', false),
})

export type GenericOidcField = keyof typeof genericOidcFields

/** Values under names that only the operator knows. */
export type GenericOidcValues = {
  [name: `AUTH_EXTERNAL_OIDC_${string}`]: string | string[] | boolean | number | undefined
}

const fields = Object.keys(genericOidcFields).join('|')
const genericOidcPattern = new RegExp(`^AUTH_EXTERNAL_OIDC_([A-Z0-9_]+)_(${fields})$`)

/** The provider's name (`ACME`) and the field, when a variable belongs to a provider of this kind. */
export function genericOidcVariable(variable: string): [string, GenericOidcField] | undefined {
  const [, name, field] = genericOidcPattern.exec(variable) ?? []
  return name !== undefined && field !== undefined && field in genericOidcFields
    ? [name, field as GenericOidcField]
    : undefined
}

/** Names in use, as spelled in the variables, each once. */
export function genericOidcNames(variables: Iterable<string>): string[] {
  const names = new Set<string>()
  for (const variable of variables) {
    const found = genericOidcVariable(variable)
    if (found !== undefined) names.add(found[0])
  }
  return [...names].sort()
}
