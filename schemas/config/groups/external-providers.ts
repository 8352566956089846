import { Type } from '@sinclair/typebox'

import { duration, flag, forEach, group, list, secret, text, url } from '../fields.ts'
import { map } from '../values.ts'

const { Optional } = Type

/** The specification's eighteen, then ours, as they are spelled in variable names. */
export const providerVariableNames = [
  'APPLE',
  'AZURE',
  'BITBUCKET',
  'DISCORD',
  'FACEBOOK',
  'FIGMA',
  'GITHUB',
  'GITLAB',
  'GOOGLE',
  'KEYCLOAK',
  'LINKEDIN',
  'NOTION',
  'SNAPCHAT',
  'SPOTIFY',
  'SLACK',
  'TWITCH',
  'TWITTER',
  'WORKOS',
  'LINKEDIN_OIDC',
  'SLACK_OIDC',
  'X',
  'KAKAO',
  'ZOOM',
  'FLY',
  'VERCEL_MARKETPLACE',
] as const

export type ProviderVariableName = (typeof providerVariableNames)[number]
export type ExternalProviderName = Lowercase<ProviderVariableName>

/** Provider names as clients spell them: `google`, `linkedin_oidc`, ... */
export const externalProviderNames: readonly ExternalProviderName[] = providerVariableNames.map(
  (name) => name.toLowerCase() as ExternalProviderName,
)

const eachProvider = providerVariableNames

export const external = group('External sign-in', {
  AUTH_SECURITY_MANUAL_LINKING_ENABLED: flag(
    'Signed-in people may link and unlink further ways to sign in.',
    false,
  ),
  AUTH_EXTERNAL_FLOW_STATE_EXPIRY_DURATION: duration(
    'Longest time between the start of an external sign-in and its end; at least 5m.',
    { default: '5m', minimum: 300 },
  ),
  AUTH_EXTERNAL_REDIRECTURL: Optional(
    url('Every external sign-in ends here, whatever the client asked for.'),
  ),
  AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: list('Issuers whose ID tokens are accepted by name.', {
    default: ['https://appleid.apple.com', 'https://accounts.google.com'],
  }),
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
    eachProvider,
    (name) => `AUTH_EXTERNAL_${name}_ENABLED` as const,
    () => flag('Turns the provider on.', false),
  ),
  ...forEach(
    eachProvider,
    (name) => `AUTH_EXTERNAL_${name}_CLIENT_ID` as const,
    () =>
      list(
        'Client id registered with the provider. Of several, separated by commas, the first is used in the browser and each is accepted in ID tokens.',
        { default: [] },
      ),
  ),
  ...forEach(
    eachProvider,
    (name) => `AUTH_EXTERNAL_${name}_SECRET` as const,
    () => Optional(secret('Client secret from the provider.')),
  ),
  ...forEach(
    eachProvider,
    (name) => `AUTH_EXTERNAL_${name}_REDIRECT_URI` as const,
    () =>
      Optional(
        url('Address of our `/callback`, as registered with the provider.', { 'x-type': 'link' }),
      ),
  ),
  ...forEach(
    eachProvider,
    (name) => `AUTH_EXTERNAL_${name}_URL` as const,
    () =>
      Optional(
        url('Base address: the realm for keycloak, otherwise a self-hosted edition or a proxy.', {
          'x-default-text': 'that of the provider',
        }),
      ),
  ),
  ...forEach(
    eachProvider,
    (name) => `AUTH_EXTERNAL_${name}_API_URL` as const,
    () =>
      Optional(
        url('Base address of the provider’s API, where it differs.', {
          'x-default-text': 'that of the provider',
        }),
      ),
  ),
  ...forEach(
    eachProvider,
    (name) => `AUTH_EXTERNAL_${name}_EMAIL_OPTIONAL` as const,
    () => flag('Lets people in of whom the provider tells no e-mail address.', false),
  ),
  ...forEach(
    eachProvider,
    (name) => `AUTH_EXTERNAL_${name}_SKIP_NONCE_CHECK` as const,
    () => flag('Accepts ID tokens whose nonce cannot be checked.', false),
  ),
  ...forEach(
    eachProvider,
    (name) => `AUTH_EXTERNAL_${name}_ID_TOKEN_ONLY` as const,
    () => flag('Only ID tokens are accepted, so that no secret is needed.', false),
  ),
})
