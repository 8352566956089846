/** Users with their identities at providers, their usernames, and what is known about their addresses. */
import { sql } from 'kysely'

import {
  ensureEnum,
  ensureFillfactor,
  ensureIndexes,
  ensureTable,
  type MigrationDb,
} from './ensure.ts'

const ofUser = 'uuid not null references users (id) on delete cascade'
const oneOfUser = 'uuid primary key references users (id) on delete cascade'

export async function up(db: MigrationDb): Promise<void> {
  // Several areas use these types.
  await ensureEnum(db, 'aal_level', ['aal1', 'aal2', 'aal3'])
  await ensureEnum(db, 'code_challenge_method', ['s256', 'plain'])
  await users(db)
  await identities(db)
  await userSearch(db)
  await signUps(db)
  await autoconfirmedAddresses(db)
  await usernames(db)
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
  await ensureIndexes(db, userIndexes)
  await ensureFillfactor(db, 'users', 90)
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

const userIndexes = [
  'create unique index if not exists users_email_partial_key on users (email) where is_sso_user = false',
  'create index if not exists users_instance_id_idx on users (instance_id)',
  'create index if not exists users_instance_id_email_idx on users (instance_id, lower(email))',
  'create index if not exists users_is_anonymous_idx on users (is_anonymous)',
  ...linkTokens.map(uniqueLinkToken),
]

async function identities(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'identities',
    {
      provider_id: 'text not null',
      user_id: ofUser,
      identity_data: 'jsonb not null',
      provider: 'text not null',
      last_sign_in_at: 'timestamptz',
      created_at: 'timestamptz',
      updated_at: 'timestamptz',
      email: "text generated always as (lower(identity_data ->> 'email')) stored",
      id: 'uuid not null default gen_random_uuid() primary key',
    },
    ['constraint identities_provider_id_provider_unique unique (provider_id, provider)'],
  )
  await ensureIndexes(db, [
    'create index if not exists identities_user_id_idx on identities (user_id)',
    'create index if not exists identities_email_idx on identities (email text_pattern_ops)',
  ])
  await ensureFillfactor(db, 'identities', 90)
}

/**
 * Search by any substring where the extension may be created. It goes into its usual schema: its functions are not part
 * of ours.
 */
async function userSearch(db: MigrationDb): Promise<void> {
  await sql`do $$ declare home text := coalesce(to_regnamespace('extensions'), to_regnamespace('public'))::text;
  begin
    execute 'create extension if not exists pg_trgm' || coalesce(' with schema ' || home, '');
  exception when others then
    raise notice 'pg_trgm cannot be created: users are found by the start of what is searched';
  end $$`.execute(db)
}

/**
 * Data of a repeated sign-up for an address in use, until its link or code is consumed; accounts whose credentials or
 * addresses an admin below owner decided, whose holder is needed for a role on the server; sign-in methods that are too
 * new to authorize changes (docs/decisions/2026-11-25-fresh-proof.md).
 */
async function signUps(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_pending_sign_ups', {
    user_id: oneOfUser,
    token_hash: 'text not null',
    password_hash: 'text',
    user_metadata: 'jsonb not null',
    created_at: 'timestamptz not null',
  })
  await ensureTable(db, 'postern_prepared_accounts', {
    user_id: oneOfUser,
    created_at: 'timestamptz not null',
  })
  await ensureTable(
    db,
    'postern_new_sign_in_methods',
    {
      user_id: ofUser,
      method: 'text not null',
      added_at: 'timestamptz not null',
      previous_address: 'text',
    },
    ['primary key (user_id, method)'],
  )
  await ensureIndexes(db, [
    `create index if not exists postern_pending_sign_ups_created_at_idx
      on postern_pending_sign_ups (created_at)`,
  ])
}

/**
 * Addresses confirmed without a proof of their holder, and why: autoconfirmed (AUTH_MAILER_AUTOCONFIRM,
 * AUTH_SMS_AUTOCONFIRM), asserted by a SCIM client, or set by an admin. ID tokens do not call them verified. Those that
 * GoTrue autoconfirmed are recognized by what is missing: nothing was ever sent, and no provider verified them.
 */
async function autoconfirmedAddresses(db: MigrationDb): Promise<void> {
  const isNew = await ensureTable(
    db,
    'postern_autoconfirmed_addresses',
    {
      user_id: ofUser,
      address: 'text not null',
      created_at: 'timestamptz not null',
      cause: "text not null default 'autoconfirm'",
    },
    ['primary key (user_id, address)'],
  )
  if (!isNew) return
  await sql`
    insert into postern_autoconfirmed_addresses (user_id, address, created_at)
    select id, email, email_confirmed_at from users
    where email <> '' and email_confirmed_at is not null and not is_sso_user
      and confirmation_sent_at is null and recovery_sent_at is null
      and email_change_sent_at is null and invited_at is null
      and raw_user_meta_data ->> 'sub' = id::text
      and not exists (
        select from identities
        where identities.user_id = users.id and identities.email = users.email
          and identities.identity_data ->> 'email_verified' = 'true')
    on conflict do nothing`.execute(db)
}

/**
 * Usernames, names held after a change, and names reserved by a sign-up until its address is confirmed; which of them an
 * admin set, and from which network names without a verified address come.
 */
async function usernames(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'postern_usernames',
    {
      username: 'text collate "C" primary key',
      skeleton: 'text collate "C" not null unique',
      user_id: 'uuid references users (id) on delete cascade',
      reserved_for: 'text unique',
      assigned_at: 'timestamptz not null',
      expires_at: 'timestamptz',
      network: 'text',
      by_admin: 'boolean not null default false',
    },
    ['check (expires_at is not null or user_id is not null)'],
  )
  await ensureIndexes(db, [
    `create unique index if not exists postern_usernames_user_id_key
      on postern_usernames (user_id) where expires_at is null`,
    `create index if not exists postern_usernames_user_id_idx
      on postern_usernames (user_id)`,
    `create index if not exists postern_usernames_expires_at_idx
      on postern_usernames (expires_at) where expires_at is not null`,
    `create index if not exists postern_usernames_network_idx
      on postern_usernames (network, assigned_at) where network is not null`,
  ])
}
