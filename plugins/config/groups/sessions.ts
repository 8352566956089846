import { Type } from '@sinclair/typebox'

import { amount, duration, flag, group, list, text } from '../fields.ts'
import { rate } from '../values.ts'

const { Optional } = Type

export const sessions = group('Sessions and refresh tokens', {
  AUTH_SESSIONS_TIMEBOX: Optional(
    duration('A session ends this long after it began, whatever happens.', {
      exclusiveMinimum: 0,
      'x-default-text': 'no end',
    }),
  ),
  AUTH_SESSIONS_INACTIVITY_TIMEOUT: Optional(
    duration('A session ends when it has not been refreshed for this long.', {
      exclusiveMinimum: 0,
      'x-default-text': 'no end',
    }),
  ),
  AUTH_SESSIONS_ALLOW_LOW_AAL: Optional(
    duration(
      'How long a person with a second factor may use a session that has not been confirmed with it.',
      { exclusiveMinimum: 0, 'x-default-text': 'no limit' },
    ),
  ),
  AUTH_SESSIONS_SINGLE_PER_USER: flag('Only the session refreshed last lives on.', false),
  AUTH_SESSIONS_TAGS: list('With one session per person: kinds of clients that count apart.', {
    default: [],
  }),
  AUTH_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED: flag(
    'Use of an old refresh token ends its session, because somebody has a copy of it.',
    true,
  ),
  AUTH_SECURITY_REFRESH_TOKEN_REUSE_INTERVAL: duration(
    'The token just before the current one may still be presented this long after its exchange, for clients that race with themselves.',
    { default: '10s' },
  ),
  AUTH_SECURITY_REFRESH_TOKEN_REUSE_UNTIL_USED: flag(
    'The token just before the current one stays good until the current one has been used, for clients that lose answers.',
    false,
  ),
})

export const impersonation = group('Impersonation', {
  AUTH_ADMIN_IMPERSONATION_ENABLED: flag(
    'Admins may open a short session in the place of a person. It is marked in its tokens, in the audit trail and in the list of devices of the person.',
    false,
  ),
  AUTH_ADMIN_IMPERSONATION_EXP: duration('When such a session ends, whatever happens.', {
    default: '15m',
    minimum: 60,
    maximum: 86_400,
  }),
})

const perFiveMinutes = 'per client address in five minutes'

export const limits = group('Rate limits', {
  AUTH_RATE_LIMIT_HEADER: Optional(
    text(
      'Request header, set by your proxy, whose first entry is the client address that limits count by (of `X-Forwarded-For` the last one that is no proxy). Believed from AUTH_TRUSTED_PROXIES only; others are counted by the address of their connection. Without this variable nothing is limited by address.',
      { 'x-type': 'header', 'x-example': 'X-Real-IP' },
    ),
  ),
  AUTH_RATE_LIMIT_EMAIL_SENT: rate(
    'Mails queued in an hour by the whole installation, or in another time as in `5/10m`. What admins send and notifications are not counted.',
    { default: { count: 30, seconds: 3600 }, 'x-default-text': '30' },
  ),
  AUTH_RATE_LIMIT_SMS_SENT: rate(
    'Text messages sent in an hour by the whole installation, or in another time as in `5/10m`.',
    { default: { count: 30, seconds: 3600 }, 'x-default-text': '30' },
  ),
  AUTH_RATE_LIMIT_TOKEN_REFRESH: amount(`Requests to \`/token\` ${perFiveMinutes}.`, {
    default: 150,
  }),
  AUTH_RATE_LIMIT_VERIFY: amount(`Requests to \`/verify\` ${perFiveMinutes}.`, { default: 30 }),
  AUTH_RATE_LIMIT_OTP: amount(
    `Requests ${perFiveMinutes} to each endpoint that sends mail or messages.`,
    { default: 30 },
  ),
  AUTH_RATE_LIMIT_PASSKEY: amount(`Passkey sign-ins ${perFiveMinutes}.`, { default: 30 }),
  AUTH_RATE_LIMIT_ANONYMOUS_USERS: amount('Anonymous sign-ups per client address in an hour.', {
    default: 30,
  }),
})

export const plannedLimits = group(
  'Rate limits of features to come',
  {
    AUTH_RATE_LIMIT_WEB3: amount(`Wallet sign-ins ${perFiveMinutes}.`, { default: 30 }),
    AUTH_RATE_LIMIT_SSO: amount(`Single sign-on requests ${perFiveMinutes}.`, { default: 30 }),
    AUTH_RATE_LIMIT_OAUTH_DYNAMIC_CLIENT_REGISTER: amount(
      `Registrations of OAuth clients ${perFiveMinutes}.`,
      {
        default: 10,
        'x-gotrue-names': [
          'AUTH_RATE_LIMIT_O_AUTH_DYNAMIC_CLIENT_REGISTER',
          'GOTRUE_RATE_LIMIT_O_AUTH_DYNAMIC_CLIENT_REGISTER',
        ],
      },
    ),
  },
  { 'x-planned': true },
)
