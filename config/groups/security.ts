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
  url,
} from '../core/fields.ts'
import { characterSets, dateField } from '../core/values.ts'

const { Optional } = Type

export const passwords = group('Passwords', {
  AUTH_PASSWORD_MIN_LENGTH: integerField(
    'Minimum number of characters of a password, at least 6.',
    {
      default: 6,
      minimum: 6,
      maximum: 1024,
    },
  ),
  AUTH_PASSWORD_REQUIRED_CHARACTERS: characterSets(
    'Character sets, separated by `:`. A password needs a character of each set. Write `\\:` for a colon.',
    { default: [], 'x-example': 'abcdefghijklmnopqrstuvwxyz:0123456789' },
  ),
  AUTH_PASSWORD_COMMON_LIST: booleanField(
    'Rejects the 100,000 most common passwords, ignoring case. The list is part of the server, so no request leaves it.',
    true,
  ),
  AUTH_PASSWORD_HIBP_ENABLED: booleanField(
    'Rejects passwords from known breaches (Have I Been Pwned). Only the first five characters of the hash leave the server.',
    false,
  ),
  AUTH_PASSWORD_HIBP_FAIL_CLOSED: booleanField(
    'Rejects every new password while the breach list is unavailable, instead of accepting it.',
    false,
  ),
  AUTH_PASSWORD_HIBP_URL: url('Address of the breach list.', {
    default: 'https://api.pwnedpasswords.com',
  }),
  AUTH_PASSWORD_ARGON2_MEMORY: integerField('Memory of one argon2id hash, in KiB.', {
    default: 19456,
    minimum: 8192,
    maximum: 1_048_576,
  }),
  // At most the cost that verification accepts (plugins/security/passwords/hashes.ts); otherwise users could not sign
  // in.
  AUTH_PASSWORD_ARGON2_TIME: integerField('Passes of one argon2id hash.', {
    default: 2,
    minimum: 1,
    maximum: 20,
  }),
  AUTH_PASSWORD_ARGON2_PARALLELISM: integerField('Lanes of one argon2id hash.', {
    default: 1,
    minimum: 1,
    maximum: 16,
  }),
  AUTH_PASSWORD_HASH_CONCURRENCY: integerField(
    'Number of parallel password hashes, with low priority on Linux. 0 means the number of CPU cores on Linux, and one fewer on other systems.',
    {
      default: 0,
      maximum: 1024,
    },
  ),
  AUTH_PASSWORD_HASH_QUEUE: integerField(
    'Maximum number of queued password hashes. Further ones are rejected with 503.',
    { default: 500, maximum: 100_000 },
  ),
  AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: booleanField(
    'A new password requires a code sent by email or SMS, unless the session is younger than a day.',
    false,
  ),
  AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: booleanField(
    'A new password requires the current one. So does a new email address or phone number of a user with a password.',
    false,
  ),
  AUTH_SECURITY_FRESH_PROOF_MAX_AGE: duration(
    'How long a sign-in, a second factor or a reauthentication permits a session to add or change a sign-in method: phone, email, first password, factor, passkey, identity; or to give access to others: consents, invitations, roles, clients, keys. 0 means no limit and is the default if AUTH_JWT_SECRET is set under its GOTRUE_ name.',
    { default: '10m' },
  ),
})

export const disclosure = group('Account enumeration', {
  AUTH_SECURITY_OTP_UNKNOWN_USER_ERROR: booleanField(
    'Responds to `POST /otp` with `create_user: false` with 422 `otp_disabled` if no user has the address, as GoTrue does. This reveals who has an account. Each such response is counted, and after 20 from one network further ones are withheld for a growing time. If false, the response is the same for every address.',
    false,
  ),
})

export const captcha = group('Captcha', {
  AUTH_SECURITY_CAPTCHA_ENABLED: booleanField(
    'Requires a solved captcha for sign-up, sign-in and every request that sends an email or SMS.',
    false,
  ),
  AUTH_SECURITY_CAPTCHA_PROVIDER: Optional(
    enumField('Captcha provider.', ['hcaptcha', 'turnstile']),
  ),
  AUTH_SECURITY_CAPTCHA_SECRET: Optional(secret('Secret of the captcha provider.')),
  AUTH_SECURITY_CAPTCHA_SITE_KEY: Optional(
    textField('Public key of the captcha widget, for the hosted sign-in pages.'),
  ),
  AUTH_SECURITY_CAPTCHA_TIMEOUT: duration('Timeout of requests to the captcha provider.', {
    default: '10s',
    exclusiveMinimum: 0,
    'x-timer': true,
  }),
  AUTH_SECURITY_CAPTCHA_URL: Optional(
    url('Address of the verification endpoint of the captcha provider.', {
      'x-default-text': 'that of the provider',
    }),
  ),
})

export const securityTxt = group('Vulnerability reports', {
  AUTH_SECURITY_TXT_CONTACT: listField(
    'Where to report vulnerabilities of your installation: `mailto:`, `https:` or `tel:` addresses, the preferred one first. If set, `/.well-known/security.txt` is served (RFC 9116).',
    { default: [], 'x-example': 'mailto:security@example.com,https://example.com/report' },
  ),
  AUTH_SECURITY_TXT_EXPIRES: Optional(
    dateField(
      'When the security.txt becomes stale, at most a year ahead. Required with AUTH_SECURITY_TXT_CONTACT; renewing it confirms that the contact is still read.',
      { 'x-example': '2027-06-30T00:00:00Z' },
    ),
  ),
  AUTH_SECURITY_TXT_POLICY: Optional(
    textField('Address of your disclosure policy.', { 'x-type': 'link' }),
  ),
  AUTH_SECURITY_TXT_ACKNOWLEDGMENTS: Optional(
    textField('Address of the page that thanks reporters.', { 'x-type': 'link' }),
  ),
  AUTH_SECURITY_TXT_ENCRYPTION: Optional(
    textField('Address of the key for encrypted reports.', { 'x-type': 'link' }),
  ),
  AUTH_SECURITY_TXT_PREFERRED_LANGUAGES: listField(
    'Languages of reports, as tags such as `en,de`.',
    {
      default: [],
    },
  ),
})
