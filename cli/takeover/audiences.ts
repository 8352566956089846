import { sql } from 'kysely'

import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import { isAllowedAudience } from '../../schemas/audience.ts'
import { note, stop, type TakeoverFinding } from './finding.ts'

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
