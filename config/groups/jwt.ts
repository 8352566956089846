import { Type } from '@sinclair/typebox'

import {
  booleanField,
  duration,
  enumField,
  group,
  integerField,
  listField,
  secret,
  textField,
} from '../core/fields.ts'
import { jwks, map } from '../core/values.ts'

const { Optional } = Type

export const jwt = group('Tokens and keys', {
  AUTH_JWT_SECRET: secret(
    'Secret for HS256 tokens, of at least 32 bytes. It signs tokens if AUTH_JWT_ALGORITHM is HS256, and verifies API tokens signed with it unless AUTH_JWT_ACCEPT_SECRET is false.',
    { 'x-type': 'secret-bytes' },
  ),
  AUTH_JWT_EXP: duration('Lifetime of an access token, in whole seconds.', {
    default: '1h',
    minimum: 1,
    multipleOf: 1,
  }),
  AUTH_JWT_AUD: textField('The `aud` claim, and the audience whose users a request concerns.', {
    default: 'authenticated',
  }),
  AUTH_JWT_ALLOWED_AUDIENCES: listField(
    'Further audiences, in addition to AUTH_JWT_AUD, that a request may name in X-JWT-AUD or an admin in `aud`. `*` allows any. A token for another audience is rejected. With GOTRUE_ names, any audience is allowed.',
    { default: [] },
  ),
  AUTH_JWT_ISSUER: Optional(
    textField('The `iss` claim.', { 'x-default-text': 'AUTH_API_EXTERNAL_URL' }),
  ),
  AUTH_JWT_ADMIN_ROLES: listField('Roles that may call the admin endpoints.', {
    default: ['service_role', 'supabase_admin', 'platform_admin'],
    minItems: 1,
  }),
  AUTH_JWT_SERVICE_ISSUERS: listField(
    'The `iss` that tokens of services with an admin role may have, besides none and that of this server: other installations may sign with the same secret.',
    { default: ['supabase', 'supabase-demo', 'postern-dev'] },
  ),
  AUTH_JWT_ALGORITHM: enumField(
    'Algorithm of the signing key that the server generates and stores. HS256 signs with AUTH_JWT_SECRET instead.',
    ['RS256', 'ES256', 'EdDSA', 'HS256'],
    { default: 'RS256' },
  ),
  AUTH_JWT_KEYS: Optional(
    jwks(
      'Your own keys as a JSON array of JWKs. Exactly one has `"key_ops": ["sign"]`. Replaces AUTH_JWT_ALGORITHM.',
    ),
  ),
  AUTH_JWT_KEY_ID: Optional(textField('The `kid` of tokens signed with AUTH_JWT_SECRET.')),
  AUTH_JWT_VALID_METHODS: Optional(
    listField('Accepted algorithms of tokens.', {
      'x-default-text': 'those of the keys',
    }),
  ),
  AUTH_JWT_ACCEPT_SECRET: booleanField(
    'Accepts HS256 tokens signed with AUTH_JWT_SECRET, such as anon and service_role tokens.',
    true,
  ),
  AUTH_JWT_DEFAULT_GROUP_NAME: textField('Role of new users.', {
    default: 'authenticated',
    'x-deprecated': 'inherited; roles are set per user by an admin',
  }),
  AUTH_JWT_ADMIN_GROUP_NAME: Optional(
    textField('Name of the admin group.', {
      'x-inert': 'groups in tokens are not supported; AUTH_JWT_ADMIN_ROLES lists the admin roles',
    }),
  ),
})

const keyForm = '32 bytes as base64url (43 characters)'

export const encryption = group('Encryption at rest', {
  AUTH_ENCRYPTION_KEY: Optional(
    secret(
      `Key that encrypts signing keys, refresh-token keys, TOTP secrets and queued emails in the database: ${keyForm}.`,
      { 'x-type': 'key', 'x-default-text': 'made from AUTH_JWT_SECRET' },
    ),
  ),
  AUTH_ENCRYPTION_NEXT_KEY: Optional(
    secret(
      'The next AUTH_ENCRYPTION_KEY. Data encrypted with it can already be decrypted. `npm run keys -- encryption rotate` guides through the rotation.',
      { 'x-type': 'key' },
    ),
  ),
  AUTH_ENCRYPTION_OLD_KEYS: listField(
    'Earlier values of AUTH_ENCRYPTION_KEY. They decrypt existing data and encrypt nothing new.',
    { default: [], 'x-type': 'keys', 'x-secret': true },
  ),
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT: booleanField(
    'States that GoTrue encrypted columns of the database, so that the following keys are required.',
    false,
  ),
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID: Optional(
    textField('Id of the following key, as GoTrue stored it with the encrypted data.'),
  ),
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY: Optional(
    secret(`Key with which GoTrue encrypted data, used for decryption only: ${keyForm}.`, {
      'x-type': 'key',
    }),
  ),
  AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: map(
    'Keys that decrypt passwords and TOTP secrets encrypted by GoTrue, as `id:key,id:key`. The data is re-encrypted at its next use.',
    { default: {}, 'x-type': 'key-map', 'x-secret': true },
  ),
})

export const inherited = group('Accepted, without effect', {
  AUTH_MULTI_INSTANCE_MODE: Optional(
    textField('Several tenants in one server.', { 'x-inert': 'one server has one set of users' }),
  ),
  OPERATOR_TOKEN: Optional(
    secret('Token of the multi-tenant operator.', {
      'x-gotrue-names': ['GOTRUE_OPERATOR_TOKEN'],
      'x-inert': 'it belongs to the multi-tenant mode, which is not supported',
    }),
  ),
  API_ENDPOINT: Optional(
    textField('Endpoint of the multi-tenant mode.', {
      'x-gotrue-names': ['GOTRUE_API_ENDPOINT'],
      'x-inert': 'it belongs to the multi-tenant mode, which is not supported',
    }),
  ),
  AUTH_SECURITY_REFRESH_TOKEN_ALGORITHM_VERSION: Optional(
    integerField('Format of refresh tokens.', {
      maximum: 2,
      'x-inert': 'new sessions always have counter tokens, and older tokens remain valid',
    }),
  ),
  AUTH_SECURITY_REFRESH_TOKEN_UPGRADE_PERCENTAGE: Optional(
    integerField('Share of sessions moved to the newer format.', {
      maximum: 100,
      'x-inert': 'every older token is migrated to the counter format at its next use',
    }),
  ),
  AUTH_SECURITY_REFRESH_TOKEN_ALLOW_REUSE: Optional(
    textField('Accepts any earlier refresh token.', {
      'x-inert': 'reuse of an old refresh token is always rejected',
    }),
  ),
})
