import { Type } from '@sinclair/typebox'

import {
  booleanField,
  choicesField,
  duration,
  group,
  integerField,
  listField,
  positiveIntegerField,
  secret,
  textField,
  url,
} from '../core/fields.ts'
import { rate } from '../core/values.ts'

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

const organizationClaims = ['org_id', 'org_slug', 'org_role', 'org_permissions'] as const

export const organizations = group('Organizations', {
  AUTH_ORGANIZATIONS_ENABLED: booleanField(
    'Enables organizations: members with roles, invitations, domains, and the organization in access tokens.',
    false,
  ),
  AUTH_ORGANIZATIONS_USER_CREATION_ENABLED: booleanField(
    'Users may create organizations. Otherwise only admins do.',
    true,
  ),
  AUTH_ORGANIZATIONS_CLAIMS: choicesField(
    'Claims of the active organization in access tokens. With more than 32 permissions, `org_permissions` is left out.',
    organizationClaims,
    { default: [...organizationClaims] },
  ),
  AUTH_ORGANIZATIONS_MAX_PER_USER: integerField(
    'Maximum number of organizations of a user. 0 means no limit.',
    { default: 100 },
  ),
  AUTH_ORGANIZATIONS_MAX_MEMBERS: integerField(
    'Maximum number of members of an organization. 0 means no limit.',
    { default: 0 },
  ),
  AUTH_ORGANIZATIONS_MAX_DOMAINS: integerField(
    'Maximum number of domains of an organization. 0 means no limit.',
    { default: 20 },
  ),
  AUTH_ORGANIZATIONS_ALLOWED_DOMAINS: listField(
    'Domains that organizations may add although the list of mail providers has them. Public suffixes are never allowed.',
    { default: [] },
  ),
  AUTH_ORGANIZATIONS_INVITATION_EXP: duration('How long an invitation can be accepted.', {
    default: '168h',
    exclusiveMinimum: 0,
  }),
  AUTH_RATE_LIMIT_ORGANIZATION_INVITATIONS: rate(
    'Maximum number of invitations and of codes for domains that an organization, and that a member of any organizations, sends an hour, or in another period, such as `5/10m`. They also count in `AUTH_RATE_LIMIT_EMAIL_SENT`, and one address gets ten a day from all organizations. Emails sent by admins count for the organization only.',
    { default: { count: 100, seconds: 3600 }, 'x-default-text': '100' },
  ),
  AUTH_ORGANIZATIONS_DNS_SERVERS: Type.Optional(
    Type.Array(Type.String(), {
      'x-type': 'list',
      description:
        'Addresses of the DNS servers that are queried for the TXT records of domains, such as `10.0.0.2` or `10.0.0.2:5353`. Without it, those of the system.',
    }),
  ),
})
