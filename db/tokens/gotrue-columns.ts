/**
 * GoTrue compares a typed code with a column of the user, whose lifetime starts when it was sent. In a shared database
 * each code is stored in these columns too. The column of a consumed token is always cleared.
 */
import { type QueryCreator, sql } from 'kysely'

import type { Database } from '../core/database.ts'
import type { ParamOf } from '../core/statement.ts'
import { type TokenType, tokenTypes } from '../tables/users.ts'
/** The column of the user with the time at which a token of a type was sent. */
export const sentAtColumns = {
  confirmation_token: 'confirmation_sent_at',
  reauthentication_token: 'reauthentication_sent_at',
  recovery_token: 'recovery_sent_at',
  email_change_token_new: 'email_change_sent_at',
  email_change_token_current: 'email_change_sent_at',
  phone_change_token: 'phone_change_sent_at',
} as const satisfies Record<TokenType, string>

interface Mirrored {
  user_id: string
  token_type: TokenType
  mirror: string | null
  now: Date
}

/** Sets the user's column of the type, and the time. */
export function mirrorToken(db: QueryCreator<Database>, value: ParamOf<Mirrored>) {
  const is = (type: TokenType) => sql<boolean>`${value('token_type')}::text = ${sql.lit(type)}`
  const hash = (type: TokenType) =>
    sql<string>`case when ${is(type)} then ${value('mirror')}::text else ${sql.ref(type)} end`
  const sent = (column: (typeof sentAtColumns)[TokenType]) => {
    const own = tokenTypes.filter((type) => sentAtColumns[type] === column).map(is)
    return sql<Date>`case when ${sql.join(own, sql` or `)} then ${value('now')} else ${sql.ref(column)} end`
  }
  return db
    .updateTable('users')
    .set({
      confirmation_token: hash('confirmation_token'),
      reauthentication_token: hash('reauthentication_token'),
      recovery_token: hash('recovery_token'),
      email_change_token_new: hash('email_change_token_new'),
      email_change_token_current: hash('email_change_token_current'),
      phone_change_token: hash('phone_change_token'),
      confirmation_sent_at: sent('confirmation_sent_at'),
      reauthentication_sent_at: sent('reauthentication_sent_at'),
      recovery_sent_at: sent('recovery_sent_at'),
      email_change_sent_at: sent('email_change_sent_at'),
      phone_change_sent_at: sent('phone_change_sent_at'),
    })
    .where('id', '=', value('user_id'))
}

/**
 * Clears the columns of the tokens in the CTE `consumed`, all of one user, where they are set. The user is a scalar: as
 * a join, a plan cached for few users would read every user.
 */
export function clearConsumed(
  db: QueryCreator<Database & { consumed: { user_id: string; token_type: TokenType } }>,
) {
  const isConsumed = (type: TokenType) =>
    sql<boolean>`exists (select from consumed where consumed.user_id = users.id
      and consumed.token_type = ${sql.lit(type)})`
  const emptied = (type: TokenType) =>
    sql<string>`case when ${isConsumed(type)} then '' else ${sql.ref(type)} end`
  const isFull = tokenTypes.map(
    (type) => sql<boolean>`(coalesce(${sql.ref(type)}, '') <> '' and ${isConsumed(type)})`,
  )
  return db
    .updateTable('users')
    .set({
      confirmation_token: emptied('confirmation_token'),
      reauthentication_token: emptied('reauthentication_token'),
      recovery_token: emptied('recovery_token'),
      email_change_token_new: emptied('email_change_token_new'),
      email_change_token_current: emptied('email_change_token_current'),
      phone_change_token: emptied('phone_change_token'),
    })
    .where('id', '=', (eb) =>
      eb.selectFrom('consumed').select('consumed.user_id').limit(sql.lit(1)),
    )
    .where(sql<boolean>`(${sql.join(isFull, sql` or `)})`)
}
