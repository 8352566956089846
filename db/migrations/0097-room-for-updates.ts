/**
 * Leaves room in each page of the tables whose rows change most: the new version of a row stays in its page and needs no
 * new index entries (a heap-only tuple). It applies to pages that are filled from now on, and blocks no request.
 */
import { sql } from 'kysely'

import type { MigrationDb } from './ensure.ts'

/** In percent. A session changes at every refresh, a user and an identity at every sign-in. */
const fillfactors = { sessions: 85, users: 90, identities: 90 }

export async function up(db: MigrationDb): Promise<void> {
  for (const [table, percent] of Object.entries(fillfactors)) {
    if (await hasFillfactor(db, table)) continue
    await sql`alter table ${sql.ref(table)} set (fillfactor = ${sql.lit(percent)})`.execute(db)
  }
}

/** The operator's own setting stays. */
async function hasFillfactor(db: MigrationDb, table: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_class where oid = to_regclass(format('%I.%I', current_schema(), ${table}::text))
      and array_to_string(reloptions, ' ') like '%fillfactor%'
  `.execute(db)
  return rows.length > 0
}
