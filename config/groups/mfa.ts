import { Type } from '@sinclair/typebox'

import {
  booleanField,
  duration,
  group,
  integerField,
  listField,
  positiveIntegerField,
  textField,
} from '../core/fields.ts'

const { Optional } = Type

export const mfa = group('Multi-factor authentication', {
  AUTH_MFA_TOTP_ENROLL_ENABLED: booleanField('Users may add an authenticator app.', true),
  AUTH_MFA_TOTP_VERIFY_ENABLED: booleanField('Codes of authenticator apps are accepted.', true),
  AUTH_MFA_PHONE_ENROLL_ENABLED: booleanField('Users may add a phone as a second factor.', false),
  AUTH_MFA_PHONE_VERIFY_ENABLED: booleanField(
    'Codes sent by SMS are accepted as a second factor.',
    false,
  ),
  AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED: booleanField('Users may add a security key.', false),
  AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED: booleanField(
    'Security keys are accepted as a second factor.',
    false,
  ),
  AUTH_MFA_RECOVERY_CODES_ENROLL_ENABLED: booleanField(
    'Users may create recovery codes. Defaults to false if the secret is set as `GOTRUE_JWT_SECRET`, as in GoTrue.',
    true,
  ),
  AUTH_MFA_RECOVERY_CODES_VERIFY_ENABLED: booleanField(
    'Recovery codes are accepted. Defaults to false in the same case.',
    true,
  ),
  AUTH_MFA_RECOVERY_CODES_COUNT: integerField('Number of recovery codes in a set.', {
    default: 10,
    minimum: 4,
    maximum: 16,
  }),
  AUTH_MFA_RECOVERY_CODES_CODE_LENGTH: integerField('Number of characters of a recovery code.', {
    default: 16,
    minimum: 13,
    maximum: 32,
  }),
  AUTH_MFA_RECOVERY_CODES_MAX_VERIFY_ATTEMPTS: integerField(
    'Number of wrong recovery codes after which the codes of a user are locked.',
    { default: 5, minimum: 3, maximum: 15 },
  ),
  AUTH_MFA_RECOVERY_CODES_LOCKOUT_DURATION: duration('How long recovery codes stay locked.', {
    default: '15m',
    minimum: 60,
    maximum: 86_400,
  }),
  AUTH_MFA_MAX_ENROLLED_FACTORS: integerField('Maximum number of factors of a user.', {
    default: 10,
  }),
  AUTH_MFA_MAX_VERIFIED_FACTORS: integerField('Maximum number of verified factors of a user.', {
    default: 10,
  }),
  AUTH_MFA_CHALLENGE_EXPIRY_DURATION: duration('Lifetime of a challenge, at least 5m.', {
    default: '5m',
    minimum: 300,
  }),
  AUTH_MFA_FACTOR_EXPIRY_DURATION: duration(
    'Time after which an unverified factor is removed, at least 5m.',
    { default: '5m', minimum: 300 },
  ),
  AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY: positiveIntegerField(
    'Challenges per client address in a minute, and as many verifications.',
    { default: 15 },
  ),
  AUTH_MFA_PHONE_OTP_LENGTH: integerField('Number of digits of a code sent to a phone.', {
    default: 6,
    minimum: 6,
    maximum: 10,
  }),
  AUTH_MFA_PHONE_MAX_FREQUENCY: duration('Minimum time between two codes to one phone.', {
    default: '1m',
  }),
  AUTH_MFA_PHONE_TEMPLATE: textField(
    'Text of the message. `{{ .Code }}` is replaced by the code.',
    {
      default: 'Your code is {{ .Code }}',
    },
  ),
  AUTH_MFA_FRESHNESS: Optional(
    duration(
      'How recently a user with a second factor must have verified one to change a sign-in method.',
      { exclusiveMinimum: 0, 'x-default-text': 'as long as the session lives' },
    ),
  ),
  AUTH_MFA_REQUIRED_ROLES: listField(
    'Roles that require a second factor. Until it is verified, their users can only add and verify one.',
    { default: [], 'x-example': 'editor' },
  ),
  AUTH_MFA_LIMITED_ROLE: textField(
    'The `role` claim of their access tokens until then. The `aud` of these tokens is this server only, so your database and services need not know the role.',
    { default: 'mfa_required', minLength: 1 },
  ),
})

export const passkeys = group('Passkeys and security keys', {
  AUTH_PASSKEY_ENABLED: booleanField(
    'Users may register passkeys and sign in with them. Requires the three AUTH_WEBAUTHN_RP_ variables.',
    false,
  ),
  AUTH_PASSKEY_MAX_PASSKEYS_PER_USER: integerField('Maximum number of passkeys of a user.', {
    default: 10,
  }),
  AUTH_PASSKEY_AAL2: booleanField(
    'A sign-in with a passkey counts as two factors if the device verified the user by fingerprint, face or PIN.',
    false,
  ),
  AUTH_WEBAUTHN_RP_ID: Optional(
    textField(
      'Relying party id: the domain of passkeys and security keys. A change invalidates all of them.',
      {
        'x-example': 'example.com',
      },
    ),
  ),
  AUTH_WEBAUTHN_RP_DISPLAY_NAME: Optional(textField('Name that is shown during registration.')),
  AUTH_WEBAUTHN_RP_ORIGINS: listField(
    'Allowed origins of sites, and of apps as `android:apk-key-hash:...`.',
    { default: [], 'x-example': 'https://app.example.com' },
  ),
  AUTH_WEBAUTHN_CHALLENGE_EXPIRY_DURATION: duration('Lifetime of a passkey challenge.', {
    default: '5m',
    exclusiveMinimum: 0,
  }),
})
