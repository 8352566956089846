/** Pages of the list of users, by number or after a cursor. */
import { type Expression, type SqlBool, sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { type ParamOf, queryMany, queryVariants } from '../core/statement.ts'
import { type ListedUserRow, selectListedColumns } from './listed-user.ts'
import {
  isListed,
  type Listing,
  type ListValues,
  listValues,
  type Searched,
  searchedIn,
} from './search.ts'

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

export type PlacedUserRow = ListedUserRow & { place: number }

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
export const cursorPosition = sql<number>`case when isfinite(users.created_at)
  then (extract(epoch from users.created_at) * 1000000)::bigint
  when users.created_at = '-infinity' then ${sql.lit(-endOfTime)}
  else ${sql.lit(endOfTime)} end`

/** Whether a row follows the one that the cursor names. */
export function isAfterCursor(
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
