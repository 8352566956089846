/** The tables of GoTrue 2.196, without the additions of 2.197. */
import { laterGotrueVersions } from '../../../db/migrations/gotrue-level.ts'
import { query } from '../../db/sql.ts'
import type { TestDatabase } from '../database.ts'
import type { Ending } from '../processes/ending.ts'
import { gotrueDatabase } from './database.ts'

export async function gotrue2196Database(t?: Ending): Promise<TestDatabase> {
  const database = await gotrueDatabase(t)
  await query(
    database.url,
    'drop table auth.mfa_recovery_codes, auth.mfa_recovery_code_sets, auth.scim_users, auth.scim_tokens',
    'alter table auth.one_time_tokens drop column expires_at',
    'alter type auth.factor_type rename to later_factor_type',
    "create type auth.factor_type as enum ('totp', 'webauthn', 'phone')",
    `alter table auth.mfa_factors
      alter column factor_type type auth.factor_type using factor_type::text::auth.factor_type`,
    'drop type auth.later_factor_type',
    {
      text: 'delete from auth.schema_migrations where version = any($1)',
      values: [laterGotrueVersions],
    },
  )
  return database
}
