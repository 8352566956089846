/** What a GoTrue database has, before its migration. */
import { type QueryExecutorProvider, sql } from 'kysely'

import { gotrueLevel, gotrueVersions } from '../migrations/gotrue-level.ts'

/** The tables do not match GoTrue's current release. */
class GotrueTooOldError extends Error {
  override name = 'GotrueTooOldError'

  constructor(schema: string, level: string) {
    super(
      `The tables in the schema "${schema}" were made by a GoTrue whose migrations end at ${level || 'no known point'}; ` +
        `they are taken over from ${gotrueLevel} on (release 2.196). Bring them there with GoTrue's own command: run its ` +
        'image of release v2.196.0 or later once, with the environment it has now and the command "auth migrate", then ' +
        'start again.',
    )
  }
}

/**
 * Returns GoTrue's applied migrations. Its migration table may be in another schema, by the search path of its login.
 */
export async function gotrueVersionsIn(
  db: QueryExecutorProvider,
  schema: string,
): Promise<string[]> {
  const versions: string[] = []
  for (const home of new Set([schema, 'public'])) {
    if (!(await hasTable(db, home, 'schema_migrations'))) continue
    const { rows } = await sql<{ version: string }>`
      select version::text from ${sql.id(home, 'schema_migrations')} order by version
    `.execute(db)
    versions.push(...rows.map(({ version }) => version))
  }
  return versions
}

/** Throws GotrueTooOldError when GoTrue's tables are not current. */
export async function requireCurrentGotrue(
  db: QueryExecutorProvider,
  schema: string,
): Promise<void> {
  const isThere = await hasTable(db, schema, 'users')
  if (!isThere && !(await hasTable(db, schema, 'identities'))) return
  const versions = await gotrueVersionsIn(db, schema)
  if (versions.includes(gotrueLevel)) return
  const known = versions.filter((version) => gotrueVersions.includes(version))
  throw new GotrueTooOldError(schema, known.at(-1) ?? '')
}

export async function hasTable(
  db: QueryExecutorProvider,
  schema: string,
  table: string,
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select to_regclass(format('%I.%I', ${schema}::text, ${table}::text)) is not null as found
  `.execute(db)
  return rows[0]?.found === true
}

/** Counts the registered OAuth clients. Their users cannot sign in while the OAuth server is off. */
export async function countOAuthClients(
  db: QueryExecutorProvider,
  schema: string,
): Promise<number> {
  if (!(await hasTable(db, schema, 'oauth_clients'))) return 0
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ${sql.id(schema, 'oauth_clients')} where deleted_at is null
  `.execute(db)
  return rows[0]?.count ?? 0
}
