import { Type } from '@sinclair/typebox'

import {
  booleanField,
  choicesField,
  duration,
  enumField,
  group,
  integerField,
  secret,
  secretList,
  textField,
} from '../core/fields.ts'

const { Optional } = Type

export const database = group('Database', {
  AUTH_DB_DRIVER: enumField('Database type. Only `postgres` is supported.', ['postgres'], {
    'x-example': 'postgres',
  }),
  DATABASE_URL: secret(
    'Postgres connection string. All libpq forms are accepted: a URI or keywords, with several hosts, a socket directory, `sslmode`, `target_session_attrs`.',
    {
      'x-type': 'postgres-url',
      'x-aliases': ['AUTH_DB_DATABASE_URL'],
      'x-gotrue-names': ['GOTRUE_DB_DATABASE_URL'],
      'x-example': 'postgres://postern:password@localhost:5432/postern',
    },
  ),
  AUTH_DB_READ_URL: secretList(
    'Connection strings of streaming standbys, separated by commas, for reads that tolerate lag: lists, searches, exports and statistics of admins. One host each. Without it they read from DATABASE_URL.',
    {
      'x-type': 'postgres-urls',
      'x-aliases': ['AUTH_DB_READ_URLS'],
      'x-example': 'postgres://postern:password@standby:5432/postern',
      default: [],
    },
  ),
  AUTH_DB_READ_MAX_LAG: duration(
    'Maximum age of the data of a standby. Reads go to the primary while it is older.',
    { default: '10s', minimum: 1 },
  ),
  AUTH_DEV_ALLOW_DATABASE_URL: booleanField(
    'Permits `npm run dev` to use DATABASE_URL instead of its own Postgres. In development anyone can sign in under any name: never use it with real users.',
    false,
  ),
  AUTH_DB_NAMESPACE: textField(
    'Postgres schema of all tables. The schema of the job queue has this name with `_jobs` appended.',
    {
      default: 'auth',
      'x-type': 'schema-name',
      'x-gotrue-names': ['DB_NAMESPACE', 'GOTRUE_DB_DB_NAMESPACE'],
    },
  ),
  AUTH_DB_MAX_POOL_SIZE: integerField(
    'Maximum number of connections of a process. Three more are used for background work, and half as many more if a hook is a database function. 0 means as many as Postgres permits for this login, at most 100.',
    { default: 0, maximum: 10_000 },
  ),
  AUTH_DB_MAX_IDLE_POOL_SIZE: Optional(
    integerField('Idle connections to keep.', {
      'x-inert': 'AUTH_DB_CONN_MAX_IDLE_TIME limits idle connections',
    }),
  ),
  AUTH_DB_CONN_MAX_LIFETIME: duration(
    'Maximum age of a connection before it is replaced. 0 means no limit.',
    {
      default: '0s',
      'x-timer': true,
    },
  ),
  AUTH_DB_CONN_MAX_IDLE_TIME: duration(
    'Time after which an idle connection is closed. 0 means never.',
    {
      default: '1m',
      'x-timer': true,
    },
  ),
  AUTH_DB_INDEX_USER_NAMES: booleanField(
    'Indexes the name in the metadata of users, by which operators search. Without it, lists of users are searched by email address, phone number and id only, and a change of metadata does not update the indexes. The start builds or drops the indexes while requests are served.',
    true,
  ),
  AUTH_DB_PREPARED_STATEMENTS: booleanField(
    'Uses named prepared statements. Turn this off behind a transaction-mode pooler that does not support them.',
    true,
  ),
})

export const takeover = group('Migration from GoTrue', {
  AUTH_TAKEOVER_ACCEPT_MISSING: choicesField(
    '`oauth_server` starts the server on a database of GoTrue that has OAuth clients while AUTH_OAUTH_SERVER_ENABLED is off. Without it, the server does not start. `saml`, `custom_providers` and `web3` are accepted and have no effect.',
    ['saml', 'oauth_server', 'custom_providers', 'web3'],
    { default: [] },
  ),
})

export const cleanup = group('Cleanup', {
  AUTH_DB_CLEANUP_ENABLED: booleanField(
    'Enables the background job that removes expired data. Sent emails and old events are removed without it too.',
    true,
  ),
  AUTH_DB_CLEANUP_BATCH_SIZE: integerField('Maximum number of rows that one statement removes.', {
    default: 1000,
    minimum: 1,
    maximum: 100_000,
  }),
  AUTH_DB_CLEANUP_RETENTION: duration(
    'How long ended sessions, consumed or expired tokens and old sign-in flows are kept.',
    { default: '24h' },
  ),
  AUTH_DB_CLEANUP_ANONYMOUS_USERS_RETENTION: Optional(
    duration('How long anonymous users are kept who did not become permanent.', {
      exclusiveMinimum: 0,
      'x-default-text': 'never',
      'x-example': '720h',
    }),
  ),
  AUTH_AUDIT_RETENTION: duration('How long audit entries are kept. 0 means forever.', {
    default: '400d',
    'x-aliases': ['AUTH_DB_CLEANUP_AUDIT_LOG_RETENTION'],
  }),
})

export const audit = group('Audit log', {
  AUTH_AUDIT_LOG_DISABLE_POSTGRES: booleanField(
    'Does not store audit entries in the database. They are still logged.',
    false,
  ),
})
