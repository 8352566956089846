/** What the check before a takeover finds in the tables, and the form of its results. */
import { sql } from 'kysely'

import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import { isAllowedAudience } from '../../schemas/audience.ts'

/** The result of a check. */
export interface TakeoverFinding {
  /** `stop`: the server would not start, or users could not sign in. */
  level: 'ok' | 'note' | 'stop'
  sentence: string
}

export const note = (sentence: string): TakeoverFinding => ({ level: 'note', sentence })
export const stop = (sentence: string): TakeoverFinding => ({ level: 'stop', sentence })
export const ok = (sentence: string): TakeoverFinding => ({ level: 'ok', sentence })

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

interface Audience {
  aud: string
  users: number
}

/** Checks the audiences: users are looked up within one. */
export async function audiences(db: Db, config: Config): Promise<TakeoverFinding[]> {
  const { AUTH_DB_NAMESPACE: schema, AUTH_JWT_AUD: configured } = config
  const { rows } = await sql<Audience>`
    select coalesce(aud, '') as aud, count(*)::int as users from ${sql.id(schema, 'users')}
    group by 1 order by users desc
  `.execute(db)
  const [mostFrequent] = rows
  if (!mostFrequent) return []
  if (rows.some(({ aud }) => aud === configured)) return notAllowed(rows, config)
  const all = rows.reduce((sum, { users }) => sum + users, 0)
  const hint = mostFrequent.aud
    ? `set AUTH_JWT_AUD=${mostFrequent.aud}`
    : `run update ${schema}.users set aud = '${configured}' where coalesce(aud, '') = '', and set GOTRUE_JWT_AUD=${configured}, which was never set`
  return [
    stop(
      `No user has the audience "${configured}" of AUTH_JWT_AUD, so no user would be found: of the ${all} users, ${mostFrequent.users} have "${mostFrequent.aud}". To continue, ${hint}.`,
    ),
  ]
}

/** Users of these audiences are not found and get no tokens. */
function notAllowed(rows: readonly Audience[], config: Config): TakeoverFinding[] {
  return rows
    .filter(({ aud }) => aud !== '' && !isAllowedAudience(config, aud))
    .map(({ aud, users }) =>
      note(
        `${users} users have the audience "${aud}", which is not in AUTH_JWT_ALLOWED_AUDIENCES, so they cannot sign in. Add it if it is used.`,
      ),
    )
}
