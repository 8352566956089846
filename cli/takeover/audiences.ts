import { sql } from 'kysely'

import type { Db } from '../../db/database.ts'
import type { Config } from '../../plugins/config/config.ts'
import { type Finding, stop } from './finding.ts'

/** Look-ups find people of one audience. */
export async function audiences(db: Db, config: Config): Promise<Finding[]> {
  const { AUTH_DB_NAMESPACE: schema, AUTH_JWT_AUD: wanted } = config
  const { rows } = await sql<{ aud: string; people: number }>`
    select coalesce(aud, '') as aud, count(*)::int as people from ${sql.id(schema, 'users')}
    group by 1 order by people desc
  `.execute(db)
  const [most] = rows
  if (!most || rows.some(({ aud }) => aud === wanted)) return []
  const all = rows.reduce((sum, { people }) => sum + people, 0)
  const remedy = most.aud
    ? `set AUTH_JWT_AUD=${most.aud}`
    : `run update ${schema}.users set aud = '${wanted}' where coalesce(aud, '') = '', and set GOTRUE_JWT_AUD=${wanted}, which was never set`
  return [
    stop(
      `Nobody has the audience "${wanted}" of AUTH_JWT_AUD, so that nobody would be found: of the ${all} people, ${most.people} have "${most.aud}". To go on, ${remedy}.`,
    ),
  ]
}
