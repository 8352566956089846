/**
 * Brings GoTrue's tables to release 2.197: recovery codes, SCIM and the expiry of one-time tokens. A database that
 * GoTrue migrated to that level is not changed. Release 2.196 works on it, as during an upgrade of GoTrue itself.
 */
import { sql } from 'kysely'

import { ensureEnum, ensureIndexes, ensureTable, type MigrationDb } from './ensure.ts'
import { gotrueLevel, laterGotrueVersions } from './gotrue-level.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureEnum(db, 'factor_type', ['recovery_code'])
  await recoveryCodes(db)
  await scimUsers(db)
  await scimTokens(db)
  await ensureTable(db, 'one_time_tokens', { expires_at: 'timestamptz' })
  await recordVersions(db)
}

/** GoTrue has no row-level security on these tables. */
const likeGotrue = { rowLevelSecurity: false }

async function recoveryCodes(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'mfa_recovery_code_sets',
    {
      id: 'uuid not null primary key',
      user_id: 'uuid not null unique references users (id) on delete cascade',
      mfa_factor_id: 'uuid not null unique references mfa_factors (id) on delete cascade',
      failed_verification_count:
        'integer not null default 0 check (failed_verification_count >= 0)',
      verification_locked_until: 'timestamptz',
      created_at: 'timestamptz not null default now()',
      updated_at: 'timestamptz not null default now()',
    },
    [],
    likeGotrue,
  )
  await ensureTable(
    db,
    'mfa_recovery_codes',
    {
      id: 'uuid not null primary key',
      mfa_recovery_code_set_id:
        'uuid not null references mfa_recovery_code_sets (id) on delete cascade',
      code_hash: 'text not null',
      consumed_at: 'timestamptz',
      created_at: 'timestamptz not null default now()',
    },
    [],
    likeGotrue,
  )
  await ensureIndexes(db, [
    `create index if not exists mfa_recovery_codes_set_id_idx
      on mfa_recovery_codes (mfa_recovery_code_set_id)`,
  ])
}

async function scimUsers(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'scim_users',
    {
      id: 'uuid not null primary key',
      sso_provider_id: 'uuid not null references sso_providers (id) on delete cascade',
      user_id: 'uuid references users (id) on delete set null',
      resource: 'jsonb not null',
      user_name: `text not null generated always as (lower(resource ->> 'userName')) stored`,
      external_id: `text generated always as (resource ->> 'externalId') stored`,
      active: `boolean not null
        generated always as (coalesce((resource ->> 'active')::boolean, true)) stored`,
      created_at: 'timestamptz not null default now()',
      updated_at: 'timestamptz not null default now()',
      deleted_at: 'timestamptz',
    },
    [],
    likeGotrue,
  )
  const [name, live] = ['scim_users', 'where deleted_at is null']
  await ensureIndexes(db, [
    `create unique index if not exists ${name}_user_name_key
      on ${name} (sso_provider_id, user_name) ${live}`,
    `create unique index if not exists ${name}_external_id_key
      on ${name} (sso_provider_id, external_id) ${live}`,
    ...['sso_provider_id', 'user_id', 'deleted_at'].map(
      (column) => `create index if not exists ${name}_${column}_idx on ${name} (${column})`,
    ),
    `create index if not exists ${name}_id_idx on ${name} (sso_provider_id, id) ${live}`,
    `create index if not exists ${name}_created_at_idx
      on ${name} (sso_provider_id, created_at, id) ${live}`,
    `create index if not exists ${name}_updated_at_idx
      on ${name} (sso_provider_id, updated_at, id) ${live}`,
    `create index if not exists ${name}_user_name_idx
      on ${name} (sso_provider_id, user_name collate "C", id) ${live}`,
  ])
}

async function scimTokens(db: MigrationDb): Promise<void> {
  await ensureTable(
    db,
    'scim_tokens',
    {
      id: 'uuid not null primary key',
      sso_provider_id: 'uuid not null references sso_providers (id) on delete cascade',
      token_hash: `text not null unique check (token_hash ~ '^[0-9a-f]{64}$')`,
      prefix: 'text not null',
      created_at: 'timestamptz not null default now()',
      expires_at: 'timestamptz check (expires_at > created_at)',
      revoked_at: 'timestamptz check (revoked_at >= created_at)',
      last_used_at: 'timestamptz',
    },
    [],
    likeGotrue,
  )
  await ensureIndexes(
    db,
    ['sso_provider_id', 'expires_at', 'revoked_at'].map(
      (column) => `create index if not exists scim_tokens_${column}_idx on scim_tokens (${column})`,
    ),
  )
}

/** Records them in GoTrue's migration table, which is in `public` where its login has no search path of its own. */
async function recordVersions(db: MigrationDb): Promise<void> {
  const versions = sql.join(laterGotrueVersions.map((version) => sql`(${version})`))
  const { rows } = await sql<{ home: string }>`
    select nspname as home from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relname = 'schema_migrations' and nspname in (current_schema(), 'public')
  `.execute(db)
  for (const { home } of rows) {
    await sql`
      insert into ${sql.id(home, 'schema_migrations')} (version)
      select later.version from (values ${versions}) as later (version)
      where exists (select from ${sql.id(home, 'schema_migrations')} where version::text = ${gotrueLevel})
      on conflict do nothing`.execute(db)
  }
}
