/** Pages of the list of users, by number or after a cursor. */
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { type ParamOf, queryMany, queryVariants } from '../core/statement.ts'
import {
  isListed,
  isListedBy,
  type Listing,
  type ListValues,
  listValues,
  type Searched,
  searchedIn,
} from './search.ts'
import type { UserRow } from './users.ts'

/** Each combination is a separate statement. */
type Trait = 'oldest_first' | 'after' | 'usual_size' | 'offset' | Searched

/** The most frequent page size. */
const defaultSize = 50

/**
 * Frequent numbers are literals. With parameters, Postgres estimates that a generic plan reads a tenth of the table,
 * and so plans every execution again, which for a large table takes longer than the query. A search has to be planned
 * for its values in any case.
 */
function selectTraits(listing: Listing, { size, offset, after }: PageWindow): Trait[] {
  const searched = searchedIn(listing)
  return [
    ...searched,
    ...(listing.direction === 'asc' ? ['oldest_first' as const] : []),
    ...(after ? ['after' as const] : []),
    ...(searched.length === 0 && size === defaultSize ? ['usual_size' as const] : []),
    ...(offset > 0 ? ['offset' as const] : []),
  ]
}

/** One row more than the page, which shows whether there is a next page. */
function pageLimit(value: ParamOf<{ size: number }>, traits: readonly Trait[]) {
  if (traits.includes('usual_size')) return sql.lit(defaultSize + 1)
  return sql<number>`${value('size')}::bigint + 1`
}

const readDirection = (traits: readonly Trait[]) =>
  traits.includes('oldest_first') ? 'asc' : 'desc'

type PlacedUserRow = ListedUserRow & { place: number }

type PageValues = ListValues & { size: number; offset: number; createdAt: number; afterId: string }

/** The rows before a later page are skipped in the index, without reading them. */
const pageStatement = queryVariants((traits: readonly Trait[]) =>
  queryMany((db, value: ParamOf<PageValues>) => {
    const direction = readDirection(traits)
    const inOrder = db
      .selectFrom('users')
      .where(isListed(value, traits))
      .$if(traits.includes('after'), (qb) =>
        qb.where(isAfterCursor(value('createdAt'), value('afterId'), direction)),
      )
      .orderBy('users.created_at', direction)
      .orderBy('users.id', direction)
      .limit(pageLimit(value, traits))
    const ids = inOrder.select('users.id').offset(value('offset'))
    const page = traits.includes('offset')
      ? db
          .selectFrom('users')
          .where('users.id', '=', sql<string>`any(array(${ids}))`)
          .orderBy('users.created_at', direction)
          .orderBy('users.id', direction)
      : inOrder
    return page.select(selectListedColumns()).select(cursorPosition.as('place'))
  }),
)

/** The rows after the cursor, if there is one, of which some are skipped. */
interface PageWindow {
  offset: number
  size: number
  after?: Cursor | undefined
}

/** Returns one page and one more row, which shows whether there is a next page. */
export function listPage(db: Db, listing: Listing, window: PageWindow): Promise<PlacedUserRow[]> {
  const { offset, size, after } = window
  const { createdAt = 0, id = '' } = after ?? {}
  const values = { ...listValues(listing), offset, size, createdAt, afterId: id }
  return pageStatement(selectTraits(listing, window))(db, values)
}

/** The row after which the page starts. */
export interface Cursor {
  /** Microseconds since the epoch: a Date would lose rows of one millisecond. */
  createdAt: number
  id: string
}

/** The latest time of a cursor, in microseconds: the year 2255, exact in a double. It stands for infinity. */
export const endOfTime = 9_000_000_000_000_000

/** When the row was created, as cursors name it. */
const cursorPosition = sql<number>`case when isfinite(users.created_at)
  then (extract(epoch from users.created_at) * 1000000)::bigint
  when users.created_at = '-infinity' then ${sql.lit(-endOfTime)}
  else ${sql.lit(endOfTime)} end`

/** Whether a row follows the one that the cursor names. */
function isAfterCursor(
  place: Expression<unknown>,
  id: Expression<unknown>,
  direction: 'asc' | 'desc',
) {
  const comparison = sql.raw(direction === 'asc' ? '>' : '<')
  const createdAt = sql`${place}::float8`
  return sql<SqlBool>`(users.created_at, users.id) ${comparison} (
    case ${createdAt} when ${sql.lit(endOfTime)} then 'infinity' when ${sql.lit(-endOfTime)} then '-infinity'
      else 'epoch'::timestamptz + ${createdAt} * interval '1 microsecond' end,
    ${id}::uuid)`
}

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

/**
 * Users in a state or of a provider: the page after the cursor, and one row more. The conditions are literals in the
 * statement: Postgres then chooses by its statistics between the order of the list and an index of the few matching
 * users.
 */
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

const texts = ['aud', 'role', 'email', 'phone', 'email_change', 'phone_change'] as const

const times = [
  'email_confirmed_at',
  'invited_at',
  'phone_confirmed_at',
  'confirmation_sent_at',
  'confirmed_at',
  'recovery_sent_at',
  'email_change_sent_at',
  'phone_change_sent_at',
  'reauthentication_sent_at',
  'last_sign_in_at',
  'created_at',
  'updated_at',
  'banned_until',
  'deleted_at',
] as const

const metadata = ['raw_app_meta_data', 'raw_user_meta_data'] as const

/**
 * A listed user in Postgres's text format, since it is only serialized again: times in UTC without a zone, metadata as
 * JSON.
 */
type ListedUserRow = Pick<UserRow, 'id' | 'is_anonymous' | (typeof texts)[number]> &
  Record<(typeof times)[number] | (typeof metadata)[number], string | null>

/** The columns as text. */
function selectListedColumns() {
  const column = (name: keyof ListedUserRow) => sql.ref(`users.${name}`)
  const inUtc = (name: (typeof times)[number]) => sql`(${column(name)} at time zone 'utc')`
  return [
    sql<string>`${column('id')}`.as('id'),
    sql<boolean>`${column('is_anonymous')}`.as('is_anonymous'),
    ...texts.map((name) => sql<string | null>`${column(name)}`.as(name)),
    ...times.map((name) => sql<string | null>`${inUtc(name)}::text`.as(name)),
    ...metadata.map((name) => sql<string | null>`${column(name)}::text`.as(name)),
  ]
}
