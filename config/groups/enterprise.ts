import { Type } from '@sinclair/typebox'

import {
  booleanField,
  duration,
  group,
  integerField,
  listField,
  positiveIntegerField,
  secret,
  textField,
  url,
} from '../core/fields.ts'

const { Optional } = Type

export const saml = group('Single sign-on (SAML)', {
  AUTH_SAML_ENABLED: booleanField('Enables SAML single sign-on.', false),
  AUTH_SAML_PRIVATE_KEY: Optional(
    secret(
      'RSA key of at least 2048 bits, as base64 of PKCS#1 DER. It signs requests and decrypts assertions. The server creates its certificate.',
    ),
  ),
  AUTH_SAML_PRIVATE_KEY_NEXT: Optional(
    secret(
      'The next key. It is already in the metadata and used to decrypt assertions. While it is set, the metadata asks identity providers to refresh it every hour.',
    ),
  ),
  AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS: booleanField(
    'Accepts encrypted assertions and publishes the encryption key. Changes the certificate.',
    false,
  ),
  AUTH_SAML_ALLOW_IDP_INITIATED: booleanField(
    'Accepts sign-ins that start at the identity provider, unless `idp_initiated` of the provider says otherwise. With AUTH_EXTERNAL_BIND_BROWSER=always only providers that allow them.',
    true,
  ),
  AUTH_SAML_RELAY_STATE_VALIDITY_PERIOD: duration(
    'Maximum time between the request and the response of the identity provider.',
    { default: '2m', exclusiveMinimum: 0 },
  ),
  AUTH_SAML_EXTERNAL_URL: Optional(
    url('Base address of the SAML endpoints.', {
      'x-default-text': 'AUTH_API_EXTERNAL_URL',
    }),
  ),
  AUTH_SAML_RATE_LIMIT_ASSERTION: positiveIntegerField(
    'SAML responses per client address in five minutes (see AUTH_RATE_LIMIT_HEADER).',
    { default: 15 },
  ),
  AUTH_RATE_LIMIT_SSO: positiveIntegerField(
    'Requests to `/sso` per client address in five minutes (see AUTH_RATE_LIMIT_HEADER).',
    { default: 30 },
  ),
})

export const oauthServer = group('OAuth server', {
  AUTH_OAUTH_SERVER_ENABLED: booleanField(
    'Enables the OAuth 2.1 and OpenID Connect server for other applications.',
    false,
  ),
  AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: booleanField(
    'Clients may register themselves (RFC 7591).',
    false,
  ),
  AUTH_OAUTH_SERVER_CLIENT_ID_METADATA_DOCUMENTS: booleanField(
    'A client may use the https URL of its metadata document as its client_id, as MCP clients do.',
    true,
  ),
  AUTH_OAUTH_SERVER_SELF_REGISTERED_CLIENTS_DATA_ACCESS: booleanField(
    'Tokens of clients that registered themselves have the role of the user and the audience of user tokens, so that policies of the database apply to them. Otherwise they identify the user to the client and to resource servers only.',
    false,
  ),
  AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: Optional(
    textField(
      'Path of your own consent page under AUTH_SITE_URL. Without it, the hosted pages are used.',
    ),
  ),
  AUTH_OAUTH_SERVER_AUTHORIZATION_TTL: duration('Lifetime of an authorization request.', {
    default: '10m',
    exclusiveMinimum: 0,
  }),
  AUTH_OAUTH_SERVER_DEFAULT_SCOPE: textField('Scope of a request without a scope.', {
    default: 'email',
  }),
  AUTH_OAUTH_SERVER_SCOPES: listField(
    'Custom scopes for resource servers, in addition to openid, profile, email, phone and offline_access.',
    { default: [] },
  ),
  AUTH_OAUTH_SERVER_RESOURCES: listField(
    'URLs of resource servers for which every client may request tokens. A client can have further ones.',
    { default: [] },
  ),
  AUTH_PAGES_SESSION_TTL: duration(
    'Inactivity timeout of a session of the hosted pages. Its maximum lifetime is twelve times as long.',
    { default: '1h', minimum: 60, maximum: 86_400 },
  ),
})

export const customProviders = group('Custom providers', {
  AUTH_CUSTOM_OAUTH_ENABLED: booleanField(
    'Admins may add external providers at run time, and users may sign in with them.',
    true,
  ),
  AUTH_CUSTOM_OAUTH_MAX_PROVIDERS: integerField(
    'Maximum number of custom providers. 0 means no limit.',
    {
      default: 0,
    },
  ),
  AUTH_CUSTOM_OAUTH_EXTERNAL_URL: Optional(
    url('Base address of the `/callback` that is registered at these providers.', {
      'x-default-text': 'AUTH_API_EXTERNAL_URL',
    }),
  ),
})

const validity =
  'How much the issue time of a signed message may differ from now, in both directions.'

export const wallets = group('Wallets', {
  AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: booleanField('Sign-in with a Solana wallet.', false),
  AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED: booleanField('Sign-in with an Ethereum wallet.', false),
  AUTH_EXTERNAL_WEB3_SOLANA_MAXIMUM_VALIDITY_DURATION: duration(validity, { default: '10m' }),
  AUTH_EXTERNAL_WEB3_ETHEREUM_MAXIMUM_VALIDITY_DURATION: duration(validity, { default: '10m' }),
  AUTH_RATE_LIMIT_WEB3: positiveIntegerField(
    'Sign-ins with a wallet per client address in five minutes (see AUTH_RATE_LIMIT_HEADER).',
    { default: 30 },
  ),
})

export const scim = group('Provisioning (SCIM)', {
  AUTH_EXPERIMENTAL_SCIM_ENABLED: booleanField(
    'Identity providers may provision users and groups with SCIM 2.0.',
    false,
  ),
})
