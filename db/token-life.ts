/** How long a one-time token counts, and after how many wrong codes it does no more. */
import { type Expression, type ExpressionBuilder, sql } from 'kysely'

import type { Database } from './database.ts'
import { sentAtOf, tokenTypes } from './user-tokens.ts'

/** What a token has beyond GoTrue's columns; one of GoTrue's has a row once it was guessed at. */
export interface TokenDetailsTable {
  token_id: string
  /** Null for a token of GoTrue's, whose life is counted from when it was sent. */
  expires_at: Date | null
  failed_attempts: number
}

/** After this many wrong codes the token is void (RFC 6238 §5.2 asks for such a bound). */
export const maxFailedAttempts = 10

/** For tokens of GoTrue's, in seconds: as it reads its own. */
export interface Lifetimes {
  mailSeconds: number
  smsSeconds: number
}

type Tokens = ExpressionBuilder<Database, 'one_time_tokens'>

/** Of the token in scope: neither too old nor tried too often. */
export function isLive(eb: Tokens, lifetimes: Lifetimes, now: Date): Expression<boolean> {
  const details = eb
    .selectFrom('postern_one_time_tokens as details')
    .whereRef('details.token_id', '=', 'one_time_tokens.id')
  const expiry = details.select('details.expires_at')
  const failures = details.select('details.failed_attempts')
  return sql<boolean>`(coalesce(${expiry}, ${foreignExpiry(eb, lifetimes)}) > ${now}
    and coalesce(${failures}, 0) < ${sql.lit(maxFailedAttempts)})`
}

function foreignExpiry(eb: Tokens, { mailSeconds, smsSeconds }: Lifetimes) {
  const sentAt = tokenTypes.map((type) => {
    const column = sql.ref(`users.${sentAtOf[type]}`)
    return sql`when ${sql.lit(type)} then ${column}`
  })
  const seconds = sql`case when one_time_tokens.relates_to like '%@%' then ${mailSeconds}::float8 else ${smsSeconds}::float8 end`
  return eb
    .selectFrom('users')
    .select(
      sql<Date>`case one_time_tokens.token_type ${sql.join(sentAt, sql` `)} end
        + make_interval(secs => ${seconds})`.as('expires_at'),
    )
    .whereRef('users.id', '=', 'one_time_tokens.user_id')
}
