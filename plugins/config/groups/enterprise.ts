import { Type } from '@sinclair/typebox'

import { amount, duration, flag, group, secret, text, url, whole } from '../fields.ts'

const { Optional } = Type

const planned = { 'x-planned': true } as const

export const saml = group(
  'Single sign-on (SAML)',
  {
    AUTH_SAML_ENABLED: flag('Sign-in through an organisation’s SAML server.', false),
    AUTH_SAML_PRIVATE_KEY: Optional(secret('RSA key as base64 of PKCS#1 DER, 2048 bits or more.')),
    AUTH_SAML_PRIVATE_KEY_NEXT: Optional(secret('The key that will follow it.')),
    AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS: flag('Accepts encrypted assertions.', false),
    AUTH_SAML_RELAY_STATE_VALIDITY_PERIOD: duration('Longest time a sign-in may take.', {
      default: '2m',
      exclusiveMinimum: 0,
    }),
    AUTH_SAML_EXTERNAL_URL: Optional(
      url('Base address of the SAML endpoints.', { 'x-default-text': 'AUTH_API_EXTERNAL_URL' }),
    ),
    AUTH_SAML_RATE_LIMIT_ASSERTION: amount('Assertions per client address in five minutes.', {
      default: 15,
    }),
  },
  planned,
)

export const oauthServer = group(
  'OAuth server for other applications',
  {
    AUTH_OAUTH_SERVER_ENABLED: flag('Other applications may sign people in through us.', false),
    AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: flag(
      'Applications may register by themselves.',
      false,
    ),
    AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: Optional(text('Path of the consent page on the site.')),
    AUTH_OAUTH_SERVER_AUTHORIZATION_TTL: duration('Lifetime of a request and of its code.', {
      default: '10m',
      exclusiveMinimum: 0,
    }),
    AUTH_OAUTH_SERVER_DEFAULT_SCOPE: text('Scope of a request that names none.', {
      default: 'email',
    }),
  },
  planned,
)

export const customProviders = group(
  'Providers kept in the database',
  {
    AUTH_CUSTOM_OAUTH_ENABLED: flag('Admins may add external providers at run time.', true),
    AUTH_CUSTOM_OAUTH_MAX_PROVIDERS: whole('Most such providers; 0 is no limit.', { default: 0 }),
    AUTH_CUSTOM_OAUTH_EXTERNAL_URL: Optional(
      url('Base address of their callback.', { 'x-default-text': 'AUTH_API_EXTERNAL_URL' }),
    ),
  },
  planned,
)

export const otherSignIns = group(
  'Wallets and provisioning',
  {
    AUTH_EXTERNAL_WEB3_SOLANA_ENABLED: flag('Sign-in with a Solana wallet.', false),
    AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED: flag('Sign-in with an Ethereum wallet.', false),
    AUTH_EXTERNAL_WEB3_SOLANA_MAXIMUM_VALIDITY_DURATION: duration('Oldest message accepted.', {
      default: '10m',
    }),
    AUTH_EXTERNAL_WEB3_ETHEREUM_MAXIMUM_VALIDITY_DURATION: duration('Oldest message accepted.', {
      default: '10m',
    }),
    AUTH_EXPERIMENTAL_SCIM_ENABLED: flag('Provisioning of people over SCIM.', false),
  },
  planned,
)
