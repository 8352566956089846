import { Type } from '@sinclair/typebox'

import { type ProviderName, providerNames } from '../../providers/registry.ts'
import {
  booleanField,
  duration,
  enumField,
  forEach,
  group,
  listField,
  secret,
  textField,
  url,
} from '../core/fields.ts'
import { map } from '../core/values.ts'

const { Optional } = Type

export type ProviderVariableName = Uppercase<ProviderName>

/** As they are spelled in variable names. */
export const providerVariableNames = providerNames.map(
  (name) => name.toUpperCase() as ProviderVariableName,
)

export const external = group('External sign-in', {
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: booleanField(
    'Signed-in users may link and unlink identities.',
    false,
  ),
  AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION: duration(
    'Maximum duration of an external sign-in, at least 5m.',
    { default: '5m', minimum: 300 },
  ),
  AUTH_EXTERNAL_BIND_BROWSER: enumField(
    'Which external sign-ins are bound by a cookie to the browser that started them: those whose client requests it (`bind_browser=true`), or all, with those by SAML.',
    ['asked', 'always'],
    { default: 'asked' },
  ),
  AUTH_EXTERNAL_REDIRECTURL: Optional(
    url('Target of every external sign-in, regardless of the request.'),
  ),
  AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: listField(
    'Issuers whose ID tokens are accepted. An issuer that is not a configured provider needs an entry in AUTH_EXTERNAL_ID_TOKEN_AUDIENCES.',
    { default: ['https://appleid.apple.com', 'https://accounts.google.com'] },
  ),
  AUTH_EXTERNAL_ID_TOKEN_AUDIENCES: map(
    'Required client ids (`aud`) of these ID tokens, as `issuer=client-id,...`. Separate several client ids of one issuer by `|`.',
    { default: {}, 'x-sign': '=', 'x-example': 'https://id.example.com=web-app|phone-app' },
  ),
  AUTH_EXTERNAL_OIDC_PROVIDER_CACHE_TTL: duration(
    'Cache lifetime of a provider’s discovery document and keys.',
    { default: '1h', minimum: 1 },
  ),
  AUTH_EXTERNAL_IOS_BUNDLE_ID: Optional(
    textField('Apple: bundle id that is also accepted as audience.'),
  ),
  AUTH_EXTERNAL_APPLE_TEAM_ID: Optional(
    textField(
      'Apple: team id. With the key id and the private key, the server creates the client secret.',
    ),
  ),
  AUTH_EXTERNAL_APPLE_KEY_ID: Optional(textField('Apple: id of the private key.')),
  AUTH_EXTERNAL_APPLE_PRIVATE_KEY: Optional(
    secret('Apple: private key as PEM. `\\n` stands for a line break.', { 'x-type': 'pem' }),
  ),
  AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS: map(
    'Providers that link accounts only within a common linking domain, as `provider=domain,...`.',
    { default: {}, 'x-sign': '=' },
  ),
  AUTH_EXPERIMENTAL_CREATE_EMAIL_IDENTITY_ON_PASSWORD_SET_ENABLED: booleanField(
    'A user who sets a first password also gets an email identity, if the email address is confirmed.',
    false,
  ),
  AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN: listField(
    'Providers that each have a linking domain of their own: their accounts are never linked to others.',
    { default: [] },
  ),
})

/** One set of variables for each provider. */
export const externalProviders = group('External providers', {
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_ENABLED` as const,
    () => booleanField('Enables the provider.', false),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_CLIENT_ID` as const,
    () =>
      listField(
        'Client id at the provider. Several can be separated by commas: the first is used in the browser, and each is accepted in ID tokens.',
        { default: [] },
      ),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_SECRET` as const,
    () => Optional(secret('Client secret of the provider.')),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_REDIRECT_URI` as const,
    () =>
      Optional(
        url(
          'Address of `/callback` on this server, or of `/providers/<name>/callback`, as registered at the provider.',
          {
            'x-type': 'link',
          },
        ),
      ),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_URL` as const,
    () =>
      Optional(
        url(
          'Base address: the realm for keycloak, otherwise a self-hosted installation or a proxy.',
          {
            'x-default-text': 'that of the provider',
          },
        ),
      ),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_API_URL` as const,
    () =>
      Optional(
        url('Base address of the profile request. The path of the provider is appended.', {
          'x-default-text': 'that of the provider',
        }),
      ),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_EMAIL_OPTIONAL` as const,
    () => booleanField('Accepts users without an email address.', false),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_SKIP_NONCE_CHECK` as const,
    () => booleanField('Accepts ID tokens without verifying their nonce.', false),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_ID_TOKEN_ONLY` as const,
    () => booleanField('Accepts ID tokens only, so that no secret is required.', false),
  ),
})

/**
 * OpenID Connect providers with names of the operator's choice: `AUTH_EXTERNAL_OIDC_<NAME>_ISSUER` and the fields that
 * every provider has.
 */
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
