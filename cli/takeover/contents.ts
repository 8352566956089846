import { sql } from 'kysely'

import type { Db } from '../../db/core/database.ts'
import { ok, type TakeoverFinding } from './finding.ts'

/** The rows in use, by a condition per table. */
const counted = {
  users: 'true',
  sessions: 'true',
  refresh_tokens: 'not revoked',
  mfa_factors: "status = 'verified'",
  one_time_tokens: 'true',
  flow_state: "created_at > now() - interval '1 hour'",
} as const

/** Counts the rows and estimates the duration of the first start. */
export async function contents(db: Db, schema: string): Promise<TakeoverFinding[]> {
  const findings: TakeoverFinding[] = []
  for (const [table, condition] of Object.entries(counted)) {
    const { rows } = await sql<{ used: number; size: string }>`
      select count(*)::int as used,
        pg_size_pretty(pg_total_relation_size(${`${schema}.${table}`}::regclass)) as size
      from ${sql.id(schema, table)} where ${sql.raw(condition)}
    `.execute(db)
    findings.push(ok(`${table}: ${rows[0]?.used} in use, ${rows[0]?.size}.`))
  }
  const { rows } = await sql<{ users: number }>`
    select count(*)::int as users from ${sql.id(schema, 'users')}
  `.execute(db)
  findings.push(
    ok(
      'No table is rewritten; no lock is waited for longer than 50 ms or held longer than 100 ms.',
    ),
    ok(
      `Ready after about ${readySeconds(rows[0]?.users ?? 0)} s: most of it is building indexes concurrently.`,
    ),
  )
  return findings
}

/** Measured with 500,000 users on two busy cores (docs/takeover.md). */
function readySeconds(users: number): number {
  return 5 + Math.ceil((users * 55) / 500_000)
}
