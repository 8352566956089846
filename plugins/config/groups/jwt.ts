import { Type } from '@sinclair/typebox'

import { choice, duration, flag, group, list, secret, text, whole } from '../fields.ts'
import { jwks, map } from '../values.ts'

const { Optional } = Type

export const jwt = group('Tokens and keys', {
  AUTH_JWT_SECRET: secret(
    'At least 32 bytes. Signs tokens when the algorithm is HS256; always checks API tokens made with it unless AUTH_JWT_ACCEPT_SECRET is false.',
    { 'x-type': 'secret-bytes' },
  ),
  AUTH_JWT_EXP: duration('Lifetime of an access token, in whole seconds.', {
    default: '1h',
    minimum: 1,
    multipleOf: 1,
  }),
  AUTH_JWT_AUD: text('The `aud` claim, and the group of people a request is about.', {
    default: 'authenticated',
  }),
  AUTH_JWT_ISSUER: Optional(
    text('The `iss` claim.', { 'x-default-text': 'AUTH_API_EXTERNAL_URL' }),
  ),
  AUTH_JWT_ADMIN_ROLES: list('Roles that may use the admin endpoints.', {
    default: ['service_role', 'supabase_admin', 'platform_admin'],
    minItems: 1,
  }),
  AUTH_JWT_ALGORITHM: choice(
    'Algorithm of the key that the server makes and keeps by itself. HS256 signs with AUTH_JWT_SECRET instead.',
    ['RS256', 'ES256', 'EdDSA', 'HS256'],
    { default: 'RS256' },
  ),
  AUTH_JWT_KEYS: Optional(
    jwks(
      'Your own keys as a JSON array of JWKs, exactly one of them with `"key_ops": ["sign"]`. Replaces AUTH_JWT_ALGORITHM.',
    ),
  ),
  AUTH_JWT_KEY_ID: Optional(text('The `kid` of tokens signed with AUTH_JWT_SECRET.')),
  AUTH_JWT_VALID_METHODS: Optional(
    list('Algorithms that a token may have.', {
      'x-default-text': 'those of the keys',
    }),
  ),
  AUTH_JWT_ACCEPT_SECRET: flag(
    'Accepts HS256 tokens signed with AUTH_JWT_SECRET, such as anon and service_role tokens.',
    true,
  ),
  AUTH_JWT_DEFAULT_GROUP_NAME: text('Role of new people.', {
    default: 'authenticated',
    'x-deprecated': 'inherited; roles are set per person by an admin',
  }),
  AUTH_JWT_ADMIN_GROUP_NAME: Optional(
    text('Name of the admin group.', {
      'x-inert': 'groups in tokens are not supported; AUTH_JWT_ADMIN_ROLES says who is an admin',
    }),
  ),
})

const keyForm = '32 bytes as base64url (43 characters)'

export const encryption = group('Encryption of stored secrets', {
  AUTH_ENCRYPTION_KEY: Optional(
    secret(
      `Encrypts signing keys, refresh-token keys, TOTP secrets and queued mail in the database: ${keyForm}.`,
      { 'x-type': 'key', 'x-default-text': 'made from AUTH_JWT_SECRET' },
    ),
  ),
  AUTH_ENCRYPTION_NEXT_KEY: Optional(
    secret(
      'The key that becomes AUTH_ENCRYPTION_KEY next: what it encrypted is read already. `npm run keys -- encryption rotate` leads through the change.',
      { 'x-type': 'key' },
    ),
  ),
  AUTH_ENCRYPTION_OLD_KEYS: list(
    'Earlier values of AUTH_ENCRYPTION_KEY, with which what they encrypted is still read.',
    { default: [], 'x-type': 'keys', 'x-secret': true },
  ),
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT: flag(
    'Says that GoTrue encrypted columns of the database, so that the keys below are needed.',
    false,
  ),
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID: Optional(
    text('Id of the key below, as GoTrue stored it beside what it encrypted.'),
  ),
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY: Optional(
    secret(`Key that GoTrue encrypted with; what it encrypted is read with it: ${keyForm}.`, {
      'x-type': 'key',
    }),
  ),
  AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: map(
    'Keys with which passwords and TOTP secrets that GoTrue encrypted are read, as `id:key,id:key`. They are stored in our own form at their next use.',
    { default: {}, 'x-type': 'key-map', 'x-secret': true },
  ),
})

export const inherited = group('Inherited, without effect', {
  AUTH_MULTI_INSTANCE_MODE: Optional(
    text('Several tenants in one server.', { 'x-inert': 'one server holds one set of people' }),
  ),
  OPERATOR_TOKEN: Optional(
    secret('Token of the multi-tenant operator.', {
      'x-gotrue-names': ['GOTRUE_OPERATOR_TOKEN'],
      'x-inert': 'it belongs to the multi-tenant mode, which is not supported',
    }),
  ),
  API_ENDPOINT: Optional(
    text('Endpoint of the multi-tenant mode.', {
      'x-gotrue-names': ['GOTRUE_API_ENDPOINT'],
      'x-inert': 'it belongs to the multi-tenant mode, which is not supported',
    }),
  ),
  AUTH_SECURITY_REFRESH_TOKEN_ALGORITHM_VERSION: Optional(
    whole('Format of refresh tokens.', {
      maximum: 2,
      'x-inert': 'new sessions always have counter tokens, and older tokens keep working',
    }),
  ),
  AUTH_SECURITY_REFRESH_TOKEN_UPGRADE_PERCENTAGE: Optional(
    whole('Share of sessions moved to the newer format.', {
      maximum: 100,
      'x-inert': 'every older token moves to the counter format at its next use',
    }),
  ),
  AUTH_SECURITY_REFRESH_TOKEN_ALLOW_REUSE: Optional(
    text('Accepts any earlier refresh token.', {
      'x-inert': 'reuse of an old refresh token is always refused',
    }),
  ),
})
