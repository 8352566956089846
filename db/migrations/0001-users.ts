/** Users, and their identities at providers. */
import { ensureEnum, ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureEnum(db, 'aal_level', ['aal1', 'aal2', 'aal3'])
  await ensureEnum(db, 'code_challenge_method', ['s256', 'plain'])
  await users(db)
  await identities(db)
}

async function users(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'users', {
    instance_id: 'uuid',
    id: 'uuid not null primary key',
    aud: 'varchar(255)',
    role: 'varchar(255)',
    email: 'varchar(255)',
    encrypted_password: 'varchar(255)',
    email_confirmed_at: 'timestamptz',
    invited_at: 'timestamptz',
    confirmation_token: "varchar(255) default ''",
    confirmation_sent_at: 'timestamptz',
    recovery_token: "varchar(255) default ''",
    recovery_sent_at: 'timestamptz',
    email_change_token_new: "varchar(255) default ''",
    email_change: "varchar(255) default ''",
    email_change_sent_at: 'timestamptz',
    last_sign_in_at: 'timestamptz',
    raw_app_meta_data: 'jsonb',
    raw_user_meta_data: 'jsonb',
    is_super_admin: 'boolean',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    phone: 'text unique',
    phone_confirmed_at: 'timestamptz',
    phone_change: "text default ''",
    phone_change_token: "varchar(255) default ''",
    phone_change_sent_at: 'timestamptz',
    confirmed_at:
      'timestamptz generated always as (least(email_confirmed_at, phone_confirmed_at)) stored',
    email_change_token_current: "varchar(255) default ''",
    email_change_confirm_status:
      'smallint default 0 check (email_change_confirm_status between 0 and 2)',
    banned_until: 'timestamptz',
    reauthentication_token: "varchar(255) default ''",
    reauthentication_sent_at: 'timestamptz',
    is_sso_user: 'boolean not null default false',
    deleted_at: 'timestamptz',
    is_anonymous: 'boolean not null default false',
  })
  await ensureIndexes(db, [
    'create unique index if not exists users_email_partial_key on users (email) where is_sso_user = false',
    'create index if not exists users_instance_id_idx on users (instance_id)',
    'create index if not exists users_instance_id_email_idx on users (instance_id, lower(email))',
    'create index if not exists users_is_anonymous_idx on users (is_anonymous)',
    ...linkTokens.map(uniqueLinkToken),
  ])
}

const linkTokens = [
  'confirmation_token',
  'recovery_token',
  'email_change_token_current',
  'email_change_token_new',
  'reauthentication_token',
]

/** Typed codes are digits and repeat across users; only link tokens must be unique. */
function uniqueLinkToken(column: string): string {
  return `create unique index if not exists ${column}_idx on users (${column})
    where ${column} !~ '^[0-9 ]*$'`
}

async function identities(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'identities', {
    provider_id: 'text not null',
    user_id: 'uuid not null references users (id) on delete cascade',
    identity_data: 'jsonb not null',
    provider: 'text not null',
    last_sign_in_at: 'timestamptz',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    email: "text generated always as (lower(identity_data ->> 'email')) stored",
    id: 'uuid not null default gen_random_uuid() primary key',
  })
  await ensureIndexes(db, [
    `create unique index if not exists identities_provider_id_provider_unique
      on identities (provider_id, provider)`,
    'create index if not exists identities_user_id_idx on identities (user_id)',
    'create index if not exists identities_email_idx on identities (email text_pattern_ops)',
  ])
}
