/**
 * Stores recovery codes as GoTrue does: a factor with a set of codes. A keyed digest next to each code avoids the slow
 * hash at verification.
 */
import { sql } from 'kysely'

import { ensureTable, type MigrationDb } from './ensure.ts'

export async function up(db: MigrationDb): Promise<void> {
  await ensureTable(db, 'postern_recovery_code_digests', {
    code_id: 'uuid primary key references mfa_recovery_codes (id) on delete cascade',
    digest: 'text not null',
    key_id: 'text',
    is_early: 'boolean not null default false',
  })
  await moveEarlyCodes(db)
  await sql`update mfa_amr_claims set authentication_method = 'mfa/recovery_code'
    where authentication_method = 'recovery_code'`.execute(db)
}

/**
 * Only the digest of earlier codes is known: their slow hash is random, so that no code matches it. Their empty table
 * stays for versions that still use it.
 */
async function moveEarlyCodes(db: MigrationDb): Promise<void> {
  const { rows } = await sql`select 1 from postern_recovery_codes limit 1`.execute(db)
  // The new enum value cannot be used in the transaction that adds it; without rows there is nothing to move.
  if (rows.length === 0) return
  await sql`
    with owners as (
      select user_id, gen_random_uuid() as factor_id, gen_random_uuid() as set_id, min(created_at) as created_at
      from postern_recovery_codes group by user_id
    ), factors as (
      insert into mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
      select factor_id, user_id, 'Recovery codes ' || left(factor_id::text, 8), 'recovery_code', 'verified', created_at, created_at, ''
      from owners
    ), sets as (
      insert into mfa_recovery_code_sets (id, user_id, mfa_factor_id, created_at)
      select set_id, user_id, factor_id, created_at from owners
    ), moved as (
      delete from postern_recovery_codes returning user_id, code_hash, key_id, created_at
    ), codes as (
      select gen_random_uuid() as id, set_id, code_hash, key_id, moved.created_at from moved join owners using (user_id)
    ), kept as (
      insert into mfa_recovery_codes (id, mfa_recovery_code_set_id, code_hash, created_at)
      select id, set_id, ${unmatchableHash}, created_at from codes
    ), raised as (
      update sessions set factor_id = owners.factor_id from owners
      where sessions.user_id = owners.user_id and sessions.factor_id is null and exists (
        select from mfa_amr_claims where session_id = sessions.id and authentication_method = 'recovery_code'
      )
    )
    insert into postern_recovery_code_digests (code_id, digest, key_id, is_early)
    select id, code_hash, key_id, true from codes`.execute(db)
}

const randomBase64 = (uuids: number) =>
  sql.raw(
    `rtrim(encode(${Array.from({ length: uuids }, () => 'uuid_send(gen_random_uuid())').join(' || ')}, 'base64'), '=')`,
  )

const unmatchableHash = sql`'$argon2id$v=19$m=19456,t=2,p=1$' || ${randomBase64(1)} || '$' || ${randomBase64(2)}`
