import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { suite, test } from 'node:test'

import type { Environment } from '../../config/names.ts'
import { issuesIn, wrongVariables } from './environment.ts'

const google = {
  AUTH_EXTERNAL_GOOGLE_ENABLED: 'true',
  AUTH_EXTERNAL_GOOGLE_CLIENT_ID: 'id',
  AUTH_EXTERNAL_GOOGLE_SECRET: 'secret',
  AUTH_EXTERNAL_GOOGLE_REDIRECT_URI: 'https://auth.example.test/callback',
}
const apple = {
  AUTH_EXTERNAL_APPLE_ENABLED: 'true',
  AUTH_EXTERNAL_APPLE_CLIENT_ID: 'id',
  AUTH_EXTERNAL_APPLE_REDIRECT_URI: 'https://auth.example.test/callback',
}
const appleKey = {
  AUTH_EXTERNAL_APPLE_TEAM_ID: 'team',
  AUTH_EXTERNAL_APPLE_KEY_ID: 'key',
  AUTH_EXTERNAL_APPLE_PRIVATE_KEY: createPem('P-256'),
}
const acme = {
  AUTH_EXTERNAL_OIDC_ACME_ISSUER: 'https://id.acme.test',
  AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID: 'id',
  AUTH_EXTERNAL_OIDC_ACME_SECRET: 'secret',
  AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI: 'https://auth.example.test/callback',
}
const keycloak = {
  AUTH_EXTERNAL_KEYCLOAK_ENABLED: 'true',
  AUTH_EXTERNAL_KEYCLOAK_CLIENT_ID: 'id',
  AUTH_EXTERNAL_KEYCLOAK_SECRET: 'secret',
  AUTH_EXTERNAL_KEYCLOAK_REDIRECT_URI: 'https://auth.example.test/callback',
  AUTH_EXTERNAL_KEYCLOAK_URL: 'https://id.test/realms/one',
}
const listed = { AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS: 'https://id.test/realms/one' }
const phone = { AUTH_EXTERNAL_PHONE_ENABLED: 'true' }
const captcha = {
  AUTH_SECURITY_CAPTCHA_ENABLED: 'true',
  AUTH_SECURITY_CAPTCHA_PROVIDER: 'turnstile',
  AUTH_SECURITY_CAPTCHA_SECRET: 'secret',
}
const smtp = { AUTH_SMTP_HOST: 'mail.test', AUTH_SMTP_ADMIN_EMAIL: 'no-reply@mail.test' }
const key = 'qR3-vT8_zLm5Xw0KpYd7uBn1HsGc6JfEo2AiVtQyZ4k'
const encrypted = {
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT: 'true',
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID: 'one',
  AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY: key,
  AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS: `one:${key}`,
}
const passkeys = {
  AUTH_PASSKEY_ENABLED: 'true',
  AUTH_WEBAUTHN_RP_ID: 'app.test',
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'The app',
  AUTH_WEBAUTHN_RP_ORIGINS: 'https://app.test',
}
const origins = (AUTH_WEBAUTHN_RP_ORIGINS: string) => ({ ...passkeys, AUTH_WEBAUTHN_RP_ORIGINS })
const domain = (AUTH_WEBAUTHN_RP_ID: string) => ({ ...passkeys, AUTH_WEBAUTHN_RP_ID })
const hook = { AUTH_HOOK_SEND_SMS_ENABLED: 'true' }
const keys = (...jwks: object[]) => ({ AUTH_JWT_KEYS: JSON.stringify(jwks) })
const signing = { kty: 'RSA', alg: 'RS256', kid: 'a', d: 'x', key_ops: ['sign', 'verify'] }
const pair = { ...signing, key_ops: ['verify'] }
const oct = { kty: 'oct', alg: 'HS256', kid: 'b', k: key, key_ops: ['verify'] }

type Wrong = [what: string, env: Environment, variables: string[]]

const right: [string, Environment][] = [
  ['a complete provider', google],
  ['a disabled provider without settings', { AUTH_EXTERNAL_GOOGLE_CLIENT_ID: 'id' }],
  [
    'a provider for ID tokens only, without a secret',
    { ...google, AUTH_EXTERNAL_GOOGLE_SECRET: '', AUTH_EXTERNAL_GOOGLE_ID_TOKEN_ONLY: 'true' },
  ],
  [
    'invalid SAML variables while SAML is disabled',
    {
      AUTH_SAML_PRIVATE_KEY: 'x',
      AUTH_SAML_RELAY_STATE_VALIDITY_PERIOD: 'soon',
      AUTH_SAML_EXTERNAL_URL: 'nowhere',
    },
  ],
  ['apple with a client secret', { ...apple, AUTH_EXTERNAL_APPLE_SECRET: 'jwt' }],
  ['apple with a key for its secret', { ...apple, ...appleKey }],
  [
    'apple with a key in one line',
    { ...apple, ...appleKey, AUTH_EXTERNAL_APPLE_PRIVATE_KEY: oneLine(createPem('P-256')) },
  ],
  ['a named OpenID provider', acme],
  ['two named OpenID providers', { ...acme, ...renamed(acme, 'ACME', 'MY_OWN') }],
  ['phones without a provider', phone],
  ['an SMS provider while phones are disabled', { AUTH_SMS_PROVIDER: 'twilio' }],
  ['a complete captcha', captcha],
  [
    'captcha at the hosted pages',
    { ...captcha, AUTH_OAUTH_SERVER_ENABLED: 'true', AUTH_SECURITY_CAPTCHA_SITE_KEY: 'key' },
  ],
  [
    'captcha with a consent page of the operator',
    {
      ...captcha,
      AUTH_OAUTH_SERVER_ENABLED: 'true',
      AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: '/consent',
    },
  ],
  [
    'a request deadline equal to the captcha timeout',
    { ...captcha, AUTH_SECURITY_CAPTCHA_TIMEOUT: '8s', AUTH_API_MAX_REQUEST_DURATION: '8s' },
  ],
  ['a prefix with a path as suffix', { AUTH_API_PREFIX: '/auth/admin' }],
  ['a prefix similar to a path', { AUTH_API_PREFIX: '/administration' }],
  ['no prefix', { AUTH_API_PREFIX: '/' }],
  ['a mail server', smtp],
  ['a mail server with user and password', { ...smtp, AUTH_SMTP_USER: 'u', AUTH_SMTP_PASS: 'p' }],
  ['an encrypted database', encrypted],
  ['a hook in the database', { ...hook, ...uri('pg-functions://postgres/auth/send') }],
  ['a hook over https', { ...hook, ...uri('https://hooks.test/x') }],
  ['a hook on localhost', { ...hook, ...uri('http://[::1]:9/x') }],
  ['one signing key', keys(signing)],
  ['ID tokens of an enabled keycloak', { ...keycloak, ...listed }],
  ['a signing key and an old secret', keys(signing, oct)],
  [
    'the method of the signing key alone',
    { ...keys(signing), AUTH_JWT_VALID_METHODS: 'RS256', AUTH_JWT_ALGORITHM: 'ES256' },
  ],
  ['the method of the signing key only', keys(signing, { ...oct, kid: undefined })],
  ['passkeys on one site', passkeys],
  [
    'passkeys on several sites and in apps',
    origins(
      `https://app.test/,https://shop.app.test:8443,android:apk-key-hash:${key},tauri://localhost`,
    ),
  ],
  ['passkeys on localhost', { ...origins('http://localhost:3000'), ...domain('localhost') }],
  ['a signing key with HS256', { ...hs256(), ...keys(signing) }],
]

const wrong: Wrong[] = [
  [
    'a provider without settings',
    { AUTH_EXTERNAL_GOOGLE_ENABLED: 'true' },
    [
      'AUTH_EXTERNAL_GOOGLE_CLIENT_ID',
      'AUTH_EXTERNAL_GOOGLE_SECRET',
      'AUTH_EXTERNAL_GOOGLE_REDIRECT_URI',
    ],
  ],
  [
    'a client id of commas only',
    { ...google, AUTH_EXTERNAL_GOOGLE_CLIENT_ID: ' , ' },
    ['AUTH_EXTERNAL_GOOGLE_CLIENT_ID'],
  ],
  [
    'an invalid redirect URI, reported once',
    { ...google, AUTH_EXTERNAL_GOOGLE_REDIRECT_URI: '/callback' },
    ['AUTH_EXTERNAL_GOOGLE_REDIRECT_URI'],
  ],
  [
    'keycloak without its realm',
    renamed(google, 'GOOGLE', 'KEYCLOAK'),
    ['AUTH_EXTERNAL_KEYCLOAK_URL'],
  ],
  ['apple with neither secret nor key', apple, ['AUTH_EXTERNAL_APPLE_SECRET']],
  [
    'apple with an incomplete key',
    { ...apple, AUTH_EXTERNAL_APPLE_TEAM_ID: 'team' },
    ['AUTH_EXTERNAL_APPLE_KEY_ID', 'AUTH_EXTERNAL_APPLE_PRIVATE_KEY'],
  ],
  ...Object.entries({
    'that is not PEM': 'the content of the file',
    'that is cut off': createPem('P-256').slice(0, -60),
    'of another curve': createPem('P-384'),
  }).map(
    ([which, pem]): Wrong => [
      `apple with a key ${which}`,
      { ...apple, ...appleKey, AUTH_EXTERNAL_APPLE_PRIVATE_KEY: pem },
      ['AUTH_EXTERNAL_APPLE_PRIVATE_KEY'],
    ],
  ),
  [
    'a named provider without issuer',
    { ...acme, AUTH_EXTERNAL_OIDC_ACME_ISSUER: '' },
    ['AUTH_EXTERNAL_OIDC_ACME_ISSUER'],
  ],
  [
    'a named provider with only the issuer',
    { AUTH_EXTERNAL_OIDC_ACME_ISSUER: 'https://id.acme.test' },
    [
      'AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID',
      'AUTH_EXTERNAL_OIDC_ACME_SECRET',
      'AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI',
    ],
  ],
  [
    'a named provider with a known name',
    renamed(acme, 'ACME', 'GITHUB'),
    ['AUTH_EXTERNAL_OIDC_GITHUB_ISSUER'],
  ],
  [
    'twilio without credentials',
    { ...phone, AUTH_SMS_PROVIDER: 'twilio', AUTH_SMS_TWILIO_ACCOUNT_SID: 'sid' },
    ['AUTH_SMS_TWILIO_AUTH_TOKEN', 'AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID'],
  ],
  [
    'vonage without credentials',
    { ...phone, AUTH_SMS_PROVIDER: 'vonage' },
    ['AUTH_SMS_VONAGE_API_KEY', 'AUTH_SMS_VONAGE_API_SECRET', 'AUTH_SMS_VONAGE_FROM'],
  ],
  [
    'a provider without credentials, for phone factors only',
    { AUTH_MFA_PHONE_ENROLL_ENABLED: 'true', AUTH_SMS_PROVIDER: 'messagebird' },
    ['AUTH_SMS_MESSAGEBIRD_ACCESS_KEY', 'AUTH_SMS_MESSAGEBIRD_ORIGINATOR'],
  ],
  [
    'captcha without provider and secret',
    { AUTH_SECURITY_CAPTCHA_ENABLED: 'true' },
    ['AUTH_SECURITY_CAPTCHA_PROVIDER', 'AUTH_SECURITY_CAPTCHA_SECRET'],
  ],
  [
    'hosted pages that cannot show the captcha',
    { ...captcha, AUTH_OAUTH_SERVER_ENABLED: 'true' },
    ['AUTH_SECURITY_CAPTCHA_SITE_KEY'],
  ],
  [
    'an account page whose sign-in cannot show the captcha',
    { ...captcha, AUTH_ACCOUNT_PAGE_ENABLED: 'true' },
    ['AUTH_SECURITY_CAPTCHA_SITE_KEY'],
  ],
  [
    'a request deadline below the captcha timeout',
    { ...captcha, AUTH_SECURITY_CAPTCHA_TIMEOUT: '8s', AUTH_API_MAX_REQUEST_DURATION: '7s' },
    ['AUTH_API_MAX_REQUEST_DURATION'],
  ],
  ['a mail server without sender', { AUTH_SMTP_HOST: 'mail.test' }, ['AUTH_SMTP_ADMIN_EMAIL']],
  [
    'a sender without mail server',
    { AUTH_SMTP_ADMIN_EMAIL: 'no-reply@mail.test' },
    ['AUTH_SMTP_HOST'],
  ],
  ['an SMTP user without a password', { ...smtp, AUTH_SMTP_USER: 'u' }, ['AUTH_SMTP_PASS']],
  ['an SMTP password without a user', { ...smtp, AUTH_SMTP_PASS: 'p' }, ['AUTH_SMTP_USER']],
  [
    'a reserved email header',
    { AUTH_SMTP_HEADERS: '{"bCC":["eve@example.net"]}' },
    ['AUTH_SMTP_HEADERS'],
  ],
  [
    'a generated email header',
    { AUTH_SMTP_HEADERS: '{"Content-Language":["de"]}' },
    ['AUTH_SMTP_HEADERS'],
  ],
  [
    'ID tokens of a disabled keycloak',
    { ...keycloak, ...listed, AUTH_EXTERNAL_KEYCLOAK_ENABLED: 'false' },
    ['AUTH_EXTERNAL_ID_TOKEN_AUDIENCES'],
  ],
  [
    'accepted methods without that of the signing key',
    { ...keys(signing), AUTH_JWT_VALID_METHODS: 'ES256', AUTH_JWT_ALGORITHM: 'ES256' },
    ['AUTH_JWT_VALID_METHODS'],
  ],
  [
    'a link path that forms no valid URL',
    { AUTH_MAILER_URLPATHS_RECOVERY: 'https://[app.example.test/verify' },
    ['AUTH_MAILER_URLPATHS_RECOVERY'],
  ],
  [
    'an invalid hook function name',
    {
      AUTH_HOOK_SEND_EMAIL_ENABLED: 'true',
      AUTH_HOOK_SEND_EMAIL_URI: 'pg-functions://postgres/public/100%_mail',
    },
    ['AUTH_HOOK_SEND_EMAIL_URI'],
  ],
  [
    'unverified sign-ins with autoconfirm',
    { AUTH_MAILER_AUTOCONFIRM: 'true', AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' },
    ['AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS'],
  ],
  [
    'an encrypted database without keys',
    { AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT: 'true' },
    ['AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID', 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY'],
  ],
  [
    'an encrypted database without its key among the decryption keys',
    { ...encrypted, AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID: 'two' },
    ['AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'],
  ],
  ['a hook without a URI', hook, ['AUTH_HOOK_SEND_SMS_URI']],
  [
    'a hook URI with a user',
    { ...hook, ...uri('https://u:p@hooks.test/') },
    ['AUTH_HOOK_SEND_SMS_URI'],
  ],
  ['a hook without TLS', { ...hook, ...uri('http://hooks.test/x') }, ['AUTH_HOOK_SEND_SMS_URI']],
  [
    'a hook without a function',
    { ...hook, ...uri('pg-functions://postgres/auth') },
    ['AUTH_HOOK_SEND_SMS_URI'],
  ],
  ['no signing key', keys(oct), ['AUTH_JWT_KEYS']],
  ['two signing keys', keys(signing, { ...signing, kid: 'c' }), ['AUTH_JWT_KEYS']],
  ['an empty key list', keys(), ['AUTH_JWT_KEYS']],
  ['a public key for signing', keys({ ...signing, d: undefined }), ['AUTH_JWT_KEYS']],
  ['an RSA key without algorithm', keys({ ...signing, alg: undefined }), ['AUTH_JWT_KEYS']],
  ['a key with algorithm none', keys({ ...signing, alg: 'none' }), ['AUTH_JWT_KEYS']],
  ['an RSA key for HS256', keys({ ...signing, alg: 'HS256' }), ['AUTH_JWT_KEYS']],
  ['a short secret key', keys(signing, { ...oct, k: 'c2hvcnQ' }), ['AUTH_JWT_KEYS']],
  ['duplicate key ids', keys(signing, { ...oct, kid: 'a' }), ['AUTH_JWT_KEYS']],
  ['key pairs without id', keys(signing, { ...pair, kid: undefined }), ['AUTH_JWT_KEYS']],
  ['HS256 without accepting the secret', hs256(), ['AUTH_JWT_ACCEPT_SECRET']],
  [
    'passkeys without RP id and origins',
    { AUTH_PASSKEY_ENABLED: 'true' },
    ['AUTH_WEBAUTHN_RP_ID', 'AUTH_WEBAUTHN_RP_DISPLAY_NAME', 'AUTH_WEBAUTHN_RP_ORIGINS'],
  ],
  ['passkeys for a URL', domain('https://app.test'), ['AUTH_WEBAUTHN_RP_ID']],
  ['passkeys for a host with a port', domain('app.test:3000'), ['AUTH_WEBAUTHN_RP_ID']],
  ['passkeys for an IP address', domain('127.0.0.1'), ['AUTH_WEBAUTHN_RP_ID']],
  ['an origin without a scheme', origins('app.test'), ['AUTH_WEBAUTHN_RP_ORIGINS']],
  ['an origin with a path', origins('https://app.test/in'), ['AUTH_WEBAUTHN_RP_ORIGINS']],
  ['an Android app by name', origins('android:com.example.app'), ['AUTH_WEBAUTHN_RP_ORIGINS']],
  ['SAML without key', { AUTH_SAML_ENABLED: 'true' }, ['AUTH_SAML_PRIVATE_KEY']],
  [
    'a DNS server that is no address',
    { AUTH_ORGANIZATIONS_DNS_SERVERS: '10.0.0.2,dns.example' },
    ['AUTH_ORGANIZATIONS_DNS_SERVERS'],
  ],
  [
    'SAML with invalid keys',
    { AUTH_SAML_ENABLED: 'true', AUTH_SAML_PRIVATE_KEY: 'x', AUTH_SAML_PRIVATE_KEY_NEXT: 'y' },
    ['AUTH_SAML_PRIVATE_KEY', 'AUTH_SAML_PRIVATE_KEY_NEXT'],
  ],
]

suite('rules across variables', () => {
  for (const [what, env] of right) {
    test(`accepts ${what}`, () => assert.deepEqual(issuesIn(env), []))
  }

  for (const [what, env, variables] of wrong) {
    test(`rejects ${what}`, () => assert.deepEqual(wrongVariables(env), variables))
  }
})

function renamed(env: Environment, from: string, to: string): Environment {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name.replace(from, to), value]),
  )
}

function createPem(namedCurve: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function oneLine(text: string): string {
  return text.replaceAll('\n', '\\n')
}

function uri(address: string): Environment {
  return { AUTH_HOOK_SEND_SMS_URI: address }
}

function hs256(): Environment {
  return { AUTH_JWT_ALGORITHM: 'HS256', AUTH_JWT_ACCEPT_SECRET: 'false' }
}
