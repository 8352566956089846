/**
 * Users in a state or of a provider, after a cursor. The conditions are literals in the statement: Postgres then
 * chooses by its statistics between the order of the list and an index of the few matching users.
 */
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { type Cursor, cursorPosition, isAfterCursor, type PlacedUserRow } from './list.ts'
import { selectListedColumns } from './listed-user.ts'
import { isListedBy, type Listing } from './search.ts'

const userStates = [
  'confirmed',
  'unconfirmed',
  'invited',
  'banned',
  'anonymous',
  'sso',
  'deleted',
] as const
type UserState = (typeof userStates)[number]

/** Each condition equals that of its index in db/migrate/indexes.ts. */
const conditions: Record<UserState, Expression<SqlBool>> = {
  confirmed: sql`(users.email_confirmed_at is not null or users.phone_confirmed_at is not null)`,
  unconfirmed: sql`(users.email_confirmed_at is null and users.phone_confirmed_at is null)`,
  invited: sql`(users.invited_at is not null and users.email_confirmed_at is null)`,
  banned: sql`(users.banned_until is not null and users.banned_until > now())`,
  anonymous: sql`(users.is_anonymous)`,
  sso: sql`(users.is_sso_user)`,
  deleted: sql`(users.deleted_at is not null)`,
}

export interface UserFilter {
  state: UserState | undefined
  /** Of one of their identities. */
  provider: string | undefined
  createdAfter: Date | undefined
  createdBefore: Date | undefined
}

/** The page after the cursor, and one row more. */
export function listFiltered(
  db: Db,
  listing: Listing,
  filter: UserFilter,
  { after, size }: { after: Cursor | undefined; size: number },
): Promise<PlacedUserRow[]> {
  const { direction } = listing
  return db
    .selectFrom('users')
    .select(selectListedColumns())
    .select(cursorPosition.as('place'))
    .where(isListedBy(listing))
    .where((eb) => matches(eb, filter))
    .$if(after !== undefined, (qb) =>
      qb.where(isAfterCursor(sql`${after?.createdAt}`, sql`${after?.id}`, direction)),
    )
    .orderBy('users.created_at', direction)
    .orderBy('users.id', direction)
    .limit(sql<number>`${sql.lit(size + 1)}`)
    .execute()
}

function matches(
  eb: ExpressionBuilder<Database, 'users'>,
  { state, provider, createdAfter, createdBefore }: UserFilter,
): Expression<SqlBool> {
  return eb.and([
    ...(state ? [conditions[state]] : []),
    ...(provider ? [hasProvider(eb, provider)] : []),
    ...(createdAfter ? [eb('users.created_at', '>=', createdAfter)] : []),
    ...(createdBefore ? [eb('users.created_at', '<', createdBefore)] : []),
  ])
}

function hasProvider(eb: ExpressionBuilder<Database, 'users'>, provider: string) {
  return eb.exists(
    eb
      .selectFrom('identities')
      .select('identities.id')
      .whereRef('identities.user_id', '=', 'users.id')
      .where('identities.provider', '=', sql.lit(provider)),
  )
}
