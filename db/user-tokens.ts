/**
 * GoTrue compares a typed code with a column of the person, and counts its life from when it was sent. In a database
 * that it reads as well, each token has its code in these columns; the column of a token that is spent is always emptied.
 */
import { type Generated, type QueryCreator, sql } from 'kysely'

import type { Database } from './database.ts'
import type { ValueOf } from './prepared-statement.ts'

export const tokenTypes = [
  'confirmation_token',
  'reauthentication_token',
  'recovery_token',
  'email_change_token_new',
  'email_change_token_current',
  'phone_change_token',
] as const

/** What a token is good for: GoTrue's enum, one live token per person and type; and the column of the person. */
export type TokenType = (typeof tokenTypes)[number]

export type UserTokenColumns = Record<TokenType, Generated<string | null>>

/** When the token of a type was sent, as a column of the person. */
export const sentAtOf = {
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
  /** Null where GoTrue does not read the database. */
  mirror: string | null
  now: Date
}

/** The person's column of the type, and when it was sent. */
export function mirrorToken(db: QueryCreator<Database>, value: ValueOf<Mirrored>) {
  const is = (type: TokenType) => sql<boolean>`${value('token_type')}::text = ${sql.lit(type)}`
  const hash = (type: TokenType) =>
    sql<string>`case when ${is(type)} then ${value('mirror')}::text else ${sql.ref(type)} end`
  const sent = (column: (typeof sentAtOf)[TokenType]) => {
    const own = tokenTypes.filter((type) => sentAtOf[type] === column).map(is)
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
    .where(sql<boolean>`${value('mirror')}::text is not null`)
}

/**
 * Empties the columns of the tokens that `spent` names, all of one person, where there is something in them. The person is
 * one value: joined, a plan that was made for few people would read everybody.
 */
export function clearSpent(
  db: QueryCreator<Database & { spent: { user_id: string; token_type: TokenType } }>,
) {
  const isSpent = (type: TokenType) =>
    sql<boolean>`exists (select from spent where spent.user_id = users.id
      and spent.token_type = ${sql.lit(type)})`
  const emptied = (type: TokenType) =>
    sql<string>`case when ${isSpent(type)} then '' else ${sql.ref(type)} end`
  const isFull = tokenTypes.map(
    (type) => sql<boolean>`(coalesce(${sql.ref(type)}, '') <> '' and ${isSpent(type)})`,
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
    .where('id', '=', (eb) => eb.selectFrom('spent').select('spent.user_id').limit(sql.lit(1)))
    .where(sql<boolean>`(${sql.join(isFull, sql` or `)})`)
}
