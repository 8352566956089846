import { Type } from '@sinclair/typebox'

import {
  booleanField,
  duration,
  group,
  listField,
  positiveIntegerField,
  textField,
} from '../core/fields.ts'
import { rate } from '../core/values.ts'

const { Optional } = Type

export const sessions = group('Sessions and refresh tokens', {
  AUTH_SESSIONS_TIMEBOX: Optional(
    duration('Maximum lifetime of a session.', {
      exclusiveMinimum: 0,
      'x-default-text': 'no end',
    }),
  ),
  AUTH_SESSIONS_INACTIVITY_TIMEOUT: Optional(
    duration('Maximum time between two refreshes of a session.', {
      exclusiveMinimum: 0,
      'x-default-text': 'no end',
    }),
  ),
  AUTH_SESSIONS_ALLOW_LOW_AAL: Optional(
    duration(
      'How long a user with a second factor may use a session without verifying the factor in it.',
      { exclusiveMinimum: 0, 'x-default-text': 'no limit' },
    ),
  ),
  AUTH_SESSIONS_SINGLE_PER_USER: booleanField(
    'Each user has one session: only the session that was refreshed last remains.',
    false,
  ),
  AUTH_SESSIONS_TAGS: listField(
    'Types of clients that have one session each, if AUTH_SESSIONS_SINGLE_PER_USER is true.',
    {
      default: [],
    },
  ),
  AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: booleanField(
    'Reuse of an old refresh token revokes its session, because the token may have been stolen.',
    true,
  ),
  AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: duration(
    'The previous refresh token remains valid for this long after the rotation, for clients that send parallel requests.',
    { default: '10s' },
  ),
  AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED: booleanField(
    'The previous refresh token remains valid until the current one was used, for clients that lose responses.',
    false,
  ),
})

export const impersonation = group('Impersonation', {
  AUTH_ADMIN_IMPERSONATION_ENABLED: booleanField(
    'Admins may create a short session that impersonates a user. Its tokens, the audit log and the device list of the user mark it.',
    false,
  ),
  AUTH_ADMIN_IMPERSONATION_EXP: duration('Lifetime of an impersonation session.', {
    default: '15m',
    minimum: 60,
    maximum: 86_400,
  }),
})

const perFiveMinutes = 'per client address in five minutes'

export const limits = group('Rate limits', {
  AUTH_RATE_LIMIT_HEADER: Optional(
    textField(
      'Request header, set by your proxy, with the client address for rate limits. Its first entry counts (for `X-Forwarded-For`, the last one that is not a proxy). It is trusted from AUTH_TRUSTED_PROXIES only; other requests are counted by the address of their connection. Without this variable, no limit by address applies.',
      { 'x-type': 'header', 'x-example': 'X-Real-IP' },
    ),
  ),
  AUTH_RATE_LIMIT_EMAIL_SENT: rate(
    'Maximum number of emails of each purpose (sign-up, recovery, sign-in, change of address, invitation to an organization) an hour for the whole installation, or in another period, such as `5/10m`. One client, and one recipient, may use two thirds of it, at least 20. Emails sent by admins and notifications are not counted.',
    { default: { count: 30, seconds: 3600 }, 'x-default-text': '30' },
  ),
  AUTH_RATE_LIMIT_SMS_SENT: rate(
    'Maximum number of SMS of each purpose (sign-up, sign-in, change of number) an hour for the whole installation, or in another period, such as `5/10m`. One client, and one recipient, may use two thirds of it, at least 20.',
    { default: { count: 30, seconds: 3600 }, 'x-default-text': '30' },
  ),
  AUTH_RATE_LIMIT_TOKEN_REFRESH: positiveIntegerField(`Requests to \`/token\` ${perFiveMinutes}.`, {
    default: 150,
  }),
  AUTH_RATE_LIMIT_VERIFY: positiveIntegerField(`Requests to \`/verify\` ${perFiveMinutes}.`, {
    default: 30,
  }),
  AUTH_RATE_LIMIT_OTP: positiveIntegerField(
    `Requests ${perFiveMinutes} to each endpoint that sends an email or SMS.`,
    { default: 30 },
  ),
  AUTH_RATE_LIMIT_PASSKEY: positiveIntegerField(
    `Requests for a passkey challenge ${perFiveMinutes}, and as many verifications.`,
    { default: 30 },
  ),
  AUTH_RATE_LIMIT_AUTHORIZE: positiveIntegerField(
    `Requests to \`/authorize\` ${perFiveMinutes}, and as many to \`/callback\`: sign-ins through external providers.`,
    { default: 150 },
  ),
  AUTH_RATE_LIMIT_OAUTH_AUTHORIZE: positiveIntegerField(
    `Authorization requests of OAuth clients, also pushed ones and those of devices, ${perFiveMinutes}.`,
    { default: 100 },
  ),
  AUTH_RATE_LIMIT_OAUTH_DYNAMIC_CLIENT_REGISTER: positiveIntegerField(
    `Registrations of OAuth clients ${perFiveMinutes}.`,
    {
      default: 10,
      'x-gotrue-names': [
        'AUTH_RATE_LIMIT_O_AUTH_DYNAMIC_CLIENT_REGISTER',
        'GOTRUE_RATE_LIMIT_O_AUTH_DYNAMIC_CLIENT_REGISTER',
      ],
    },
  ),
  AUTH_RATE_LIMIT_OAUTH_RESOURCE: positiveIntegerField(
    `Requests to \`/oauth/introspect\` ${perFiveMinutes}, and as many to \`/oauth/userinfo\`. A resource server sends those of all its users.`,
    { default: 3000 },
  ),
  AUTH_RATE_LIMIT_SCIM: positiveIntegerField(
    `Requests to \`/scim\` ${perFiveMinutes}. A directory sends those of all its users.`,
    { default: 15_000 },
  ),
  AUTH_RATE_LIMIT_CONSOLE: positiveIntegerField(
    `Requests to \`/console/session\` ${perFiveMinutes}.`,
    { default: 300 },
  ),
  AUTH_RATE_LIMIT_ANONYMOUS_USERS: positiveIntegerField(
    'Anonymous sign-ups per client address in an hour.',
    {
      default: 30,
    },
  ),
})
