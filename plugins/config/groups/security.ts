import { Type } from '@sinclair/typebox'

import { choice, duration, flag, group, secret, url, whole } from '../fields.ts'
import { characterSets } from '../values.ts'

const { Optional } = Type

export const passwords = group('Passwords', {
  AUTH_PASSWORD_MIN_LENGTH: whole('Fewest characters of a password; not below 6.', {
    default: 6,
    minimum: 6,
    maximum: 1024,
  }),
  AUTH_PASSWORD_REQUIRED_CHARACTERS: characterSets(
    'Sets of characters, separated by `:`, of each of which a password needs one. A colon itself is written `\\:`.',
    { default: [], 'x-example': 'abcdefghijklmnopqrstuvwxyz:0123456789' },
  ),
  AUTH_PASSWORD_COMMON_LIST: flag(
    'Refuses the 100,000 commonest passwords, in any case of their letters. The list is part of the server; nothing is asked of anybody.',
    true,
  ),
  AUTH_PASSWORD_HIBP_ENABLED: flag(
    'Refuses passwords known from breaches. Five characters of a hash leave the server, never the password.',
    false,
  ),
  AUTH_PASSWORD_HIBP_FAIL_CLOSED: flag(
    'When the list of breached passwords cannot be reached, refuses instead of accepting.',
    false,
  ),
  AUTH_PASSWORD_HIBP_URL: url('Address of the list of breached passwords.', {
    default: 'https://api.pwnedpasswords.com',
  }),
  AUTH_PASSWORD_ARGON2_MEMORY: whole('Memory of one argon2id hash, in KiB.', {
    default: 19456,
    minimum: 8192,
    maximum: 1_048_576,
  }),
  // No more than is verified (plugins/passwords/hashes.ts), or nobody could sign in again.
  AUTH_PASSWORD_ARGON2_TIME: whole('Passes of one argon2id hash.', {
    default: 2,
    minimum: 1,
    maximum: 20,
  }),
  AUTH_PASSWORD_ARGON2_PARALLELISM: whole('Lanes of one argon2id hash.', {
    default: 1,
    minimum: 1,
    maximum: 16,
  }),
  AUTH_PASSWORD_HASH_CONCURRENCY: whole(
    'Hashes worked on at once, on Linux at a low priority. 0 is the number of CPU cores there; elsewhere it is one fewer.',
    {
      default: 0,
      maximum: 1024,
    },
  ),
  AUTH_PASSWORD_HASH_QUEUE: whole(
    'Hashes that may wait their turn. When that many wait, further ones are answered with 503.',
    { default: 500, maximum: 100_000 },
  ),
  AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_REAUTHENTICATION: flag(
    'A new password needs a mailed or texted code unless the session is younger than a day.',
    false,
  ),
  AUTH_SECURITY_UPDATE_PASSWORD_REQUIRE_CURRENT_PASSWORD: flag(
    'A new password needs the current one.',
    false,
  ),
})

export const captcha = group('Captcha', {
  AUTH_SECURITY_CAPTCHA_ENABLED: flag(
    'Sign-up, sign-in and everything that sends mail or messages need a solved captcha.',
    false,
  ),
  AUTH_SECURITY_CAPTCHA_PROVIDER: Optional(
    choice('Who checks the captcha.', ['hcaptcha', 'turnstile']),
  ),
  AUTH_SECURITY_CAPTCHA_SECRET: Optional(secret('Secret from the captcha provider.')),
  AUTH_SECURITY_CAPTCHA_TIMEOUT: duration('Longest wait for the captcha provider.', {
    default: '10s',
    exclusiveMinimum: 0,
    'x-timer': true,
  }),
  AUTH_SECURITY_CAPTCHA_URL: Optional(
    url('Address of the verification endpoint.', { 'x-default-text': 'that of the provider' }),
  ),
})
