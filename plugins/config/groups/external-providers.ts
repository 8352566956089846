import { Type } from '@sinclair/typebox'

import { type ProviderName, providerNames } from '../../../providers/registry.ts'
import { choice, duration, flag, forEach, group, list, secret, text, url } from '../fields.ts'
import { map } from '../values.ts'

const { Optional } = Type

export type ProviderVariableName = Uppercase<ProviderName>

/** As they are spelled in variable names. */
export const providerVariableNames = providerNames.map(
  (name) => name.toUpperCase() as ProviderVariableName,
)

export const external = group('External sign-in', {
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: flag(
    'Signed-in people may link and unlink further ways to sign in.',
    false,
  ),
  AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION: duration(
    'Longest time between the start of an external sign-in and its end; at least 5m.',
    { default: '5m', minimum: 300 },
  ),
  AUTH_EXTERNAL_BIND_BROWSER: choice(
    'Which sign-ins through a provider can only end in the browser that began them, by a cookie: those whose client asks for it (`bind_browser=true`), or all.',
    ['asked', 'always'],
    { default: 'asked' },
  ),
  AUTH_EXTERNAL_REDIRECTURL: Optional(
    url('Every external sign-in ends here, whatever the client asked for.'),
  ),
  AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: list(
    'Issuers whose ID tokens are accepted by name. Each that is not the issuer of a provider needs an entry in AUTH_EXTERNAL_ID_TOKEN_AUDIENCES.',
    { default: ['https://appleid.apple.com', 'https://accounts.google.com'] },
  ),
  AUTH_EXTERNAL_ID_TOKEN_AUDIENCES: map(
    'For which client ids those ID tokens have to be made, as `issuer=client-id,...`; several client ids of one issuer are separated by `|`.',
    { default: {}, 'x-sign': '=', 'x-example': 'https://id.example.com=web-app|phone-app' },
  ),
  AUTH_EXTERNAL_OIDC_PROVIDER_CACHE_TTL: duration(
    'How long a provider’s discovery document and keys are kept.',
    { default: '1h', minimum: 1 },
  ),
  AUTH_EXTERNAL_IOS_BUNDLE_ID: Optional(text('Apple: bundle id accepted as audience as well.')),
  AUTH_EXTERNAL_APPLE_TEAM_ID: Optional(
    text('Apple: team id. With key id and private key, the client secret is made by the server.'),
  ),
  AUTH_EXTERNAL_APPLE_KEY_ID: Optional(text('Apple: id of the private key.')),
  AUTH_EXTERNAL_APPLE_PRIVATE_KEY: Optional(
    secret('Apple: private key as PEM; `\\n` stands for a line end.', { 'x-type': 'pem' }),
  ),
  AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS: map(
    'Providers whose accounts are linked only among themselves, as `provider=domain,...`.',
    { default: {}, 'x-sign': '=' },
  ),
  AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN: list(
    'Providers of which each keeps its accounts to itself.',
    { default: [] },
  ),
})

/** One set of variables for each provider. */
export const externalProviders = group('External providers', {
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_ENABLED` as const,
    () => flag('Turns the provider on.', false),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_CLIENT_ID` as const,
    () =>
      list(
        'Client id registered with the provider. Of several, separated by commas, the first is used in the browser and each is accepted in ID tokens.',
        { default: [] },
      ),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_SECRET` as const,
    () => Optional(secret('Client secret from the provider.')),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_REDIRECT_URI` as const,
    () =>
      Optional(
        url('Address of our `/callback`, as registered with the provider.', { 'x-type': 'link' }),
      ),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_URL` as const,
    () =>
      Optional(
        url('Base address: the realm for keycloak, otherwise a self-hosted edition or a proxy.', {
          'x-default-text': 'that of the provider',
        }),
      ),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_API_URL` as const,
    () =>
      Optional(
        url('The profile is asked for here, under the path that it has at the provider.', {
          'x-default-text': 'that of the provider',
        }),
      ),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_EMAIL_OPTIONAL` as const,
    () => flag('Lets people in of whom the provider tells no e-mail address.', false),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_SKIP_NONCE_CHECK` as const,
    () => flag('Accepts ID tokens whose nonce cannot be checked.', false),
  ),
  ...forEach(
    providerVariableNames,
    (name) => `AUTH_EXTERNAL_${name}_ID_TOKEN_ONLY` as const,
    () => flag('Only ID tokens are accepted, so that no secret is needed.', false),
  ),
})
