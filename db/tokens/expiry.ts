/** Which one-time tokens are valid: lifetime, attempt limit and purpose. */
import { type Expression, type ExpressionBuilder, sql } from 'kysely'

import type { Database } from '../core/database.ts'
import type { TokenPurpose } from '../tables/tokens.ts'
import { tokenTypes } from '../tables/users.ts'
import { sentAtColumns } from './gotrue-columns.ts'
/** A token is invalid after this many wrong codes (RFC 6238 §5.2 recommends a limit). */
export const maxFailedAttempts = 10

/** Lifetimes of GoTrue's tokens in seconds, by its own settings. */
export interface Lifetimes {
  mailSeconds: number
  smsSeconds: number
}

type Tokens = ExpressionBuilder<Database, 'one_time_tokens'>

/** Whether the token in scope has neither expired nor reached the attempt limit. */
export function isLive(eb: Tokens, lifetimes: Lifetimes, now: Date): Expression<boolean> {
  const details = eb
    .selectFrom('postern_one_time_tokens as details')
    .whereRef('details.token_id', '=', 'one_time_tokens.id')
  const expiry = details.select('details.expires_at')
  const failures = details.select('details.failed_attempts')
  return sql<boolean>`(coalesce(${expiry}, ${foreignExpiry(eb, lifetimes)}) > ${now}
    and coalesce(${failures}, 0) < ${sql.lit(maxFailedAttempts)})`
}

/** Whether the token in scope was not sent for the excluded purpose. */
export function isNotFor(eb: Tokens, excluded: TokenPurpose): Expression<boolean> {
  const sent = eb
    .selectFrom('postern_one_time_tokens as details')
    .select('details.token_id')
    .whereRef('details.token_id', '=', 'one_time_tokens.id')
    .where('details.purpose', '=', excluded)
  return sql<boolean>`not exists ${sent}`
}

function foreignExpiry(eb: Tokens, { mailSeconds, smsSeconds }: Lifetimes) {
  const sentAt = tokenTypes.map((type) => {
    const column = sql.ref(`users.${sentAtColumns[type]}`)
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
