import { Type } from '@sinclair/typebox'

import { choice, choices, duration, flag, group, secret, text, whole } from '../fields.ts'

const { Optional } = Type

export const database = group('Database', {
  AUTH_DB_DRIVER: choice('Kind of database. There is one.', ['postgres'], {
    'x-example': 'postgres',
  }),
  DATABASE_URL: secret('Connection string of the Postgres database.', {
    'x-type': 'postgres-url',
    'x-aliases': ['AUTH_DB_DATABASE_URL'],
    'x-gotrue-names': ['GOTRUE_DB_DATABASE_URL'],
    'x-example': 'postgres://postern:password@localhost:5432/postern',
  }),
  AUTH_DEV_ALLOW_DATABASE_URL: flag(
    '`npm run dev` may work on DATABASE_URL instead of a Postgres of its own. In development anybody signs in under any name: never for a database with real people.',
    false,
  ),
  AUTH_DB_NAMESPACE: text(
    'Postgres schema that holds all tables; that of the job queue has its name and `_jobs`.',
    {
      default: 'auth',
      // With `_jobs` no longer than a name may be, or both would be one schema. Those that begin with pg_, and information_schema, are Postgres's own.
      pattern: '^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,57}$',
      'x-gotrue-names': ['DB_NAMESPACE'],
    },
  ),
  AUTH_DB_MAX_POOL_SIZE: whole(
    'Most connections one process opens, and three beside them; half as many again where a hook is a database function. 0 stands for "unlimited", which is a pool of 100.',
    { default: 20, maximum: 10_000 },
  ),
  AUTH_DB_MAX_IDLE_POOL_SIZE: Optional(
    whole('Idle connections to keep.', {
      'x-inert': 'idle connections are bounded by AUTH_DB_CONN_MAX_IDLE_TIME',
    }),
  ),
  AUTH_DB_CONN_MAX_LIFETIME: duration('A connection this old is replaced; 0 keeps it.', {
    default: '0s',
    'x-timer': true,
  }),
  AUTH_DB_CONN_MAX_IDLE_TIME: duration('An unused connection is closed after this; 0 keeps it.', {
    default: '1m',
    'x-timer': true,
  }),
  AUTH_DB_PREPARED_STATEMENTS: flag(
    'Named prepared statements. Turn off behind a pooler in transaction mode that cannot keep them.',
    true,
  ),
})

export const takeover = group('Taking over from GoTrue', {
  AUTH_TAKEOVER_ACCEPT_MISSING: choices(
    'What GoTrue was used for and may be missing: `saml`, `oauth_server`, `custom_providers`, `web3`. Without, the server does not start on a database in which it is in use.',
    ['saml', 'oauth_server', 'custom_providers', 'web3'],
    { default: [] },
  ),
})

export const cleanup = group('Clean-up of old rows', {
  AUTH_DB_CLEANUP_ENABLED: flag(
    'A background job removes what has long ended. Sent mails and old events are removed also without it.',
    true,
  ),
  AUTH_DB_CLEANUP_BATCH_SIZE: whole('Most rows removed by one statement.', {
    default: 1000,
    minimum: 1,
    maximum: 100_000,
  }),
  AUTH_DB_CLEANUP_RETENTION: duration(
    'Ended sessions, spent or expired tokens and old sign-in flows are kept this long after their end.',
    { default: '24h' },
  ),
  AUTH_DB_CLEANUP_ANONYMOUS_USERS_RETENTION: Optional(
    duration('Anonymous people who never became permanent are removed after this.', {
      exclusiveMinimum: 0,
      'x-default-text': 'never',
      'x-example': '720h',
    }),
  ),
  AUTH_AUDIT_RETENTION: duration('Audit entries are removed after this; 0 keeps them.', {
    default: '400d',
    'x-aliases': ['AUTH_DB_CLEANUP_AUDIT_LOG_RETENTION'],
  }),
})

export const audit = group('Audit trail', {
  AUTH_AUDIT_LOG_DISABLE_POSTGRES: flag(
    'Keeps audit entries out of the database; they are still written to the log.',
    false,
  ),
})
