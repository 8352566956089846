import { Type } from '@sinclair/typebox'

import { amount, duration, flag, group, list, text, whole } from '../fields.ts'

const { Optional } = Type

export const mfa = group('Second factors', {
  AUTH_MFA_TOTP_ENROLL_ENABLED: flag('People may add an authenticator app.', true),
  AUTH_MFA_TOTP_VERIFY_ENABLED: flag('Codes of authenticator apps are accepted.', true),
  AUTH_MFA_PHONE_ENROLL_ENABLED: flag('People may add a phone as second factor.', false),
  AUTH_MFA_PHONE_VERIFY_ENABLED: flag('Codes sent to such phones are accepted.', false),
  AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: flag('People may add a security key.', false),
  AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: flag('Security keys are accepted.', false),
  AUTH_MFA_MAX_ENROLLED_FACTORS: whole('Most factors of one person.', { default: 10 }),
  AUTH_MFA_MAX_VERIFIED_FACTORS: whole('Most confirmed factors of one person.', { default: 10 }),
  AUTH_MFA_CHALLENGE_EXPIRY_DURATION: duration('Lifetime of a challenge; at least 5m.', {
    default: '5m',
    minimum: 300,
  }),
  AUTH_MFA_FACTOR_EXPIRY_DURATION: duration(
    'A factor never confirmed is removed after this; at least 5m.',
    { default: '5m', minimum: 300 },
  ),
  AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: amount(
    'Challenges, and answers, per client address in a minute.',
    { default: 15 },
  ),
  AUTH_MFA_PHONE_OTP_LENGTH: whole('Digits of a code sent to a phone.', {
    default: 6,
    minimum: 6,
    maximum: 10,
  }),
  AUTH_MFA_PHONE_MAX_FREQUENCY: duration('Shortest time between two codes to one phone.', {
    default: '1m',
  }),
  AUTH_MFA_PHONE_TEMPLATE: text('The message; `{{ .Code }}` stands for the code.', {
    default: 'Your code is {{ .Code }}',
  }),
  AUTH_MFA_FRESHNESS: Optional(
    duration(
      'How long ago a person with a second factor may have proven one to change how they sign in.',
      { exclusiveMinimum: 0, 'x-default-text': 'as long as the session lives' },
    ),
  ),
  AUTH_MFA_REQUIRED_ROLES: list(
    'Roles whose people can do nothing but add and prove a second factor until they have.',
    { default: [], 'x-example': 'editor' },
  ),
})

export const passkeys = group('Passkeys and security keys', {
  AUTH_PASSKEY_ENABLED: flag(
    'People may register passkeys and sign in with them. Needs the three AUTH_WEBAUTHN_RP_ variables.',
    false,
  ),
  AUTH_PASSKEY_MAX_PASSKEYS_PER_USER: whole('Most passkeys of one person.', { default: 10 }),
  AUTH_PASSKEY_AAL2: flag(
    'Signing in with a passkey counts as two factors where the device has verified the person by fingerprint, face or PIN.',
    false,
  ),
  AUTH_WEBAUTHN_RP_ID: Optional(
    text('Domain that passkeys and security keys belong to. A change makes all of them useless.', {
      'x-example': 'example.com',
    }),
  ),
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: Optional(text('Name shown when one is made.')),
  AUTH_WEBAUTHN_RP_ORIGINS: list(
    'Origins from which they may be used: of sites, and of apps as `android:apk-key-hash:...`.',
    { default: [], 'x-example': 'https://app.example.com' },
  ),
  AUTH_WEBAUTHN_CHALLENGE_EXPIRY_DURATION: duration('Lifetime of a passkey challenge.', {
    default: '5m',
    exclusiveMinimum: 0,
  }),
})
