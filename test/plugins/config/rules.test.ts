import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { suite, test } from 'node:test'

import type { Environment } from '../../../plugins/config/names.ts'
import { mistakesIn, wrongVariables } from './environment.ts'

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
  AUTH_EXTERNAL_APPLE_PRIVATE_KEY: pemOf('P-256'),
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
  ['a provider with everything', google],
  ['a disabled provider with nothing', { AUTH_EXTERNAL_GOOGLE_CLIENT_ID: 'id' }],
  [
    'a provider for ID tokens without a secret',
    { ...google, AUTH_EXTERNAL_GOOGLE_SECRET: '', AUTH_EXTERNAL_GOOGLE_ID_TOKEN_ONLY: 'true' },
  ],
  ['apple with a ready secret', { ...apple, AUTH_EXTERNAL_APPLE_SECRET: 'jwt' }],
  ['apple with a key for its secret', { ...apple, ...appleKey }],
  [
    'apple with a key in one line',
    { ...apple, ...appleKey, AUTH_EXTERNAL_APPLE_PRIVATE_KEY: oneLine(pemOf('P-256')) },
  ],
  ['a named OpenID provider', acme],
  ['two named OpenID providers', { ...acme, ...renamed(acme, 'ACME', 'MY_OWN') }],
  ['phones without a provider', phone],
  ['a provider of messages while phones are off', { AUTH_SMS_PROVIDER: 'twilio' }],
  ['captcha with everything', captcha],
  [
    'a request as long as the captcha provider may take',
    { ...captcha, AUTH_SECURITY_CAPTCHA_TIMEOUT: '8s', AUTH_API_MAX_REQUEST_DURATION: '8s' },
  ],
  ['a prefix that ends as a path begins', { AUTH_API_PREFIX: '/auth/admin' }],
  ['a prefix that begins as a path does', { AUTH_API_PREFIX: '/administration' }],
  ['no prefix', { AUTH_API_PREFIX: '/' }],
  ['a mail server', smtp],
  ['a mail server with user and password', { ...smtp, AUTH_SMTP_USER: 'u', AUTH_SMTP_PASS: 'p' }],
  ['an encrypted database', encrypted],
  ['a hook in the database', { ...hook, ...uri('pg-functions://postgres/auth/send') }],
  ['a hook over https', { ...hook, ...uri('https://hooks.test/x') }],
  ['a hook on this machine', { ...hook, ...uri('http://[::1]:9/x') }],
  ['one signing key', keys(signing)],
  ['ID tokens of a keycloak that is a provider', { ...keycloak, ...listed }],
  ['a signing key and an old secret', keys(signing, oct)],
  [
    'the method of the signing key alone',
    { ...keys(signing), AUTH_JWT_VALID_METHODS: 'RS256', AUTH_JWT_ALGORITHM: 'ES256' },
  ],
  ['an old secret without id', keys(signing, { ...oct, kid: undefined })],
  ['passkeys on one site', passkeys],
  [
    'passkeys on several sites and in apps',
    origins(
      `https://app.test/,https://shop.app.test:8443,android:apk-key-hash:${key},tauri://localhost`,
    ),
  ],
  ['passkeys on this machine', { ...origins('http://localhost:3000'), ...domain('localhost') }],
  ['an own signing key beside HS256', { ...hs256(), ...keys(signing) }],
]

const wrong: Wrong[] = [
  [
    'a provider with nothing',
    { AUTH_EXTERNAL_GOOGLE_ENABLED: 'true' },
    [
      'AUTH_EXTERNAL_GOOGLE_CLIENT_ID',
      'AUTH_EXTERNAL_GOOGLE_SECRET',
      'AUTH_EXTERNAL_GOOGLE_REDIRECT_URI',
    ],
  ],
  [
    'a client id of nothing but commas',
    { ...google, AUTH_EXTERNAL_GOOGLE_CLIENT_ID: ' , ' },
    ['AUTH_EXTERNAL_GOOGLE_CLIENT_ID'],
  ],
  [
    'a redirect URI that is none is blamed once',
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
    'apple with half a key',
    { ...apple, AUTH_EXTERNAL_APPLE_TEAM_ID: 'team' },
    ['AUTH_EXTERNAL_APPLE_KEY_ID', 'AUTH_EXTERNAL_APPLE_PRIVATE_KEY'],
  ],
  ...Object.entries({
    'that is none': 'the content of the file',
    'that is cut off': pemOf('P-256').slice(0, -60),
    'of another curve': pemOf('P-384'),
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
    'a named provider with the issuer alone',
    { AUTH_EXTERNAL_OIDC_ACME_ISSUER: 'https://id.acme.test' },
    [
      'AUTH_EXTERNAL_OIDC_ACME_CLIENT_ID',
      'AUTH_EXTERNAL_OIDC_ACME_SECRET',
      'AUTH_EXTERNAL_OIDC_ACME_REDIRECT_URI',
    ],
  ],
  [
    'a named provider called as a known one',
    renamed(acme, 'ACME', 'GITHUB'),
    ['AUTH_EXTERNAL_OIDC_GITHUB_ISSUER'],
  ],
  [
    'twilio without its values',
    { ...phone, AUTH_SMS_PROVIDER: 'twilio', AUTH_SMS_TWILIO_ACCOUNT_SID: 'sid' },
    ['AUTH_SMS_TWILIO_AUTH_TOKEN', 'AUTH_SMS_TWILIO_MESSAGE_SERVICE_SID'],
  ],
  [
    'vonage without its values',
    { ...phone, AUTH_SMS_PROVIDER: 'vonage' },
    ['AUTH_SMS_VONAGE_API_KEY', 'AUTH_SMS_VONAGE_API_SECRET', 'AUTH_SMS_VONAGE_FROM'],
  ],
  [
    'a provider without its values, for second factors alone',
    { AUTH_MFA_PHONE_ENROLL_ENABLED: 'true', AUTH_SMS_PROVIDER: 'messagebird' },
    ['AUTH_SMS_MESSAGEBIRD_ACCESS_KEY', 'AUTH_SMS_MESSAGEBIRD_ORIGINATOR'],
  ],
  [
    'captcha without provider and secret',
    { AUTH_SECURITY_CAPTCHA_ENABLED: 'true' },
    ['AUTH_SECURITY_CAPTCHA_PROVIDER', 'AUTH_SECURITY_CAPTCHA_SECRET'],
  ],
  [
    'a request that ends before the captcha provider may answer',
    { ...captcha, AUTH_SECURITY_CAPTCHA_TIMEOUT: '8s', AUTH_API_MAX_REQUEST_DURATION: '7s' },
    ['AUTH_API_MAX_REQUEST_DURATION'],
  ],
  ['a mail server without sender', { AUTH_SMTP_HOST: 'mail.test' }, ['AUTH_SMTP_ADMIN_EMAIL']],
  [
    'a sender without mail server',
    { AUTH_SMTP_ADMIN_EMAIL: 'no-reply@mail.test' },
    ['AUTH_SMTP_HOST'],
  ],
  ['a user without password', { ...smtp, AUTH_SMTP_USER: 'u' }, ['AUTH_SMTP_PASS']],
  ['a password without user', { ...smtp, AUTH_SMTP_PASS: 'p' }, ['AUTH_SMTP_USER']],
  [
    'a mail header that is the mail’s own',
    { AUTH_SMTP_HEADERS: '{"bCC":["eve@example.net"]}' },
    ['AUTH_SMTP_HEADERS'],
  ],
  [
    'a header of what the mail is made of',
    { AUTH_SMTP_HEADERS: '{"Content-Language":["de"]}' },
    ['AUTH_SMTP_HEADERS'],
  ],
  [
    'ID tokens of a keycloak that is switched off',
    { ...keycloak, ...listed, AUTH_EXTERNAL_KEYCLOAK_ENABLED: 'false' },
    ['AUTH_EXTERNAL_ID_TOKEN_AUDIENCES'],
  ],
  [
    'methods without the one of the signing key',
    { ...keys(signing), AUTH_JWT_VALID_METHODS: 'ES256', AUTH_JWT_ALGORITHM: 'ES256' },
    ['AUTH_JWT_VALID_METHODS'],
  ],
  [
    'a path of links that makes no address',
    { AUTH_MAILER_URLPATHS_RECOVERY: 'https://[app.example.test/verify' },
    ['AUTH_MAILER_URLPATHS_RECOVERY'],
  ],
  [
    'a hook function whose name cannot be read',
    {
      AUTH_HOOK_SEND_EMAIL_ENABLED: 'true',
      AUTH_HOOK_SEND_EMAIL_URI: 'pg-functions://postgres/public/100%_mail',
    },
    ['AUTH_HOOK_SEND_EMAIL_URI'],
  ],
  [
    'unverified addresses that count as confirmed',
    { AUTH_MAILER_AUTOCONFIRM: 'true', AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS: 'true' },
    ['AUTH_MAILER_ALLOW_UNVERIFIED_EMAIL_SIGN_INS'],
  ],
  [
    'an encrypted database without keys',
    { AUTH_SECURITY_DB_ENCRYPTION_ENCRYPT: 'true' },
    ['AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID', 'AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY'],
  ],
  [
    'an encrypted database whose own key is not among those that read',
    { ...encrypted, AUTH_SECURITY_DB_ENCRYPTION_ENCRYPTION_KEY_ID: 'two' },
    ['AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS'],
  ],
  ['a hook without address', hook, ['AUTH_HOOK_SEND_SMS_URI']],
  [
    'a hook with a user',
    { ...hook, ...uri('https://u:p@hooks.test/') },
    ['AUTH_HOOK_SEND_SMS_URI'],
  ],
  ['a hook in clear', { ...hook, ...uri('http://hooks.test/x') }, ['AUTH_HOOK_SEND_SMS_URI']],
  [
    'a hook without function',
    { ...hook, ...uri('pg-functions://postgres/auth') },
    ['AUTH_HOOK_SEND_SMS_URI'],
  ],
  ['no signing key', keys(oct), ['AUTH_JWT_KEYS']],
  ['two signing keys', keys(signing, { ...signing, kid: 'c' }), ['AUTH_JWT_KEYS']],
  ['no key at all', keys(), ['AUTH_JWT_KEYS']],
  ['a public key that signs', keys({ ...signing, d: undefined }), ['AUTH_JWT_KEYS']],
  ['an RSA key without algorithm', keys({ ...signing, alg: undefined }), ['AUTH_JWT_KEYS']],
  ['a key for no algorithm', keys({ ...signing, alg: 'none' }), ['AUTH_JWT_KEYS']],
  ['an RSA key for HS256', keys({ ...signing, alg: 'HS256' }), ['AUTH_JWT_KEYS']],
  ['a short secret key', keys(signing, { ...oct, k: 'c2hvcnQ' }), ['AUTH_JWT_KEYS']],
  ['keys of one id', keys(signing, { ...oct, kid: 'a' }), ['AUTH_JWT_KEYS']],
  ['key pairs without id', keys(signing, { ...pair, kid: undefined }), ['AUTH_JWT_KEYS']],
  ['HS256 whose tokens nobody accepts', hs256(), ['AUTH_JWT_ACCEPT_SECRET']],
  [
    'passkeys without a site',
    { AUTH_PASSKEY_ENABLED: 'true' },
    ['AUTH_WEBAUTHN_RP_ID', 'AUTH_WEBAUTHN_RP_DISPLAY_NAME', 'AUTH_WEBAUTHN_RP_ORIGINS'],
  ],
  ['passkeys for an address', domain('https://app.test'), ['AUTH_WEBAUTHN_RP_ID']],
  ['passkeys for a host with a port', domain('app.test:3000'), ['AUTH_WEBAUTHN_RP_ID']],
  ['passkeys for an IP address', domain('127.0.0.1'), ['AUTH_WEBAUTHN_RP_ID']],
  ['an origin without scheme', origins('app.test'), ['AUTH_WEBAUTHN_RP_ORIGINS']],
  ['an origin with a path', origins('https://app.test/in'), ['AUTH_WEBAUTHN_RP_ORIGINS']],
  ['an Android app by its name', origins('android:com.example.app'), ['AUTH_WEBAUTHN_RP_ORIGINS']],
  ['SAML without key', { AUTH_SAML_ENABLED: 'true' }, ['AUTH_SAML_PRIVATE_KEY']],
]

suite('rules across variables', () => {
  for (const [what, env] of right) {
    test(`${what}: accepted`, () => assert.deepEqual(mistakesIn(env), []))
  }

  for (const [what, env, variables] of wrong) {
    test(`${what}: refused`, () => assert.deepEqual(wrongVariables(env), variables))
  }
})

function renamed(env: Environment, from: string, to: string): Environment {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name.replace(from, to), value]),
  )
}

function pemOf(namedCurve: string): string {
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
