/** Pages of the list of users, by number or after a cursor: one statement each, which reads and sorts users once. */
import {
  type Expression,
  type QueryCreator,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { exactCountLimit } from '../core/paging.ts'
import { type ParamOf, queryMany, queryVariants } from '../core/statement.ts'
import { type ListedUserRow, listedColumns, selectListedColumns } from './listed-user.ts'
import {
  isListed,
  type Listing,
  type ListValues,
  listValues,
  type Searched,
  searchedIn,
} from './search.ts'

/** Each combination is a statement of its own. */
type Trait = 'oldest_first' | 'after' | 'usual_size' | 'first_page' | 'by_index' | Searched

/** The most frequent page size. */
const defaultSize = 50

/**
 * Frequent numbers are literals. With parameters, Postgres estimates that a generic plan reads a tenth of the table,
 * and so plans every execution again, which for a large table takes longer than the query. A search has to be planned
 * for its values in any case.
 */
function traitsOf(listing: Listing, place: { size: number; offset?: number; after?: Cursor }) {
  const { size, offset, after } = place
  const searched = searchedIn(listing)
  return [
    ...searched,
    ...(listing.direction === 'asc' ? ['oldest_first' as const] : []),
    ...(after ? ['after' as const] : []),
    ...(searched.length === 0 && size === defaultSize ? ['usual_size' as const] : []),
    ...(searched.length === 0 && offset === 0 ? ['first_page' as const] : []),
    ...(searched.length === 0 && (offset ?? 0) > size ? ['by_index' as const] : []),
  ] satisfies Trait[]
}

/** One row more than the page, which tells whether there is a next page. */
function limitOf(value: ParamOf<{ size: number }>, traits: readonly Trait[]) {
  if (traits.includes('usual_size')) return sql.lit(defaultSize + 1)
  return sql<number>`${value('size')}::bigint + 1`
}

const directionOf = (traits: readonly Trait[]) => (traits.includes('oldest_first') ? 'asc' : 'desc')

export type CountedUser = ListedUserRow & { counted: number | null; place: number }

/** Postgres's estimate of the table size, -1 without statistics. Evaluated once. */
const estimatedUsers = sql<number>`(select reltuples::bigint from pg_class
  where oid = (select page.table_id from page limit 1))`

const pageStatement = queryVariants((traits: readonly Trait[]) =>
  queryMany((db, value: ParamOf<PageValues>) =>
    db
      .with(
        (cte) => cte('page').materialized(),
        (cte) => pageRows(cte, value, traits),
      )
      .with('counts', (eb) =>
        eb
          .selectFrom('users')
          .select('users.id')
          .where(isListed(value, traits))
          .limit(sql.lit(exactCountLimit + 1)),
      )
      .selectFrom('page')
      .select(selectListedColumns('page'))
      .select([
        'page.place',
        sql<number | null>`case when (select count(*) from page) > ${value('size')}::bigint
          and ${estimatedUsers} <= ${sql.lit(exactCountLimit)} then (select count(*) from counts) end`.as(
          'counted',
        ),
      ])
      .orderBy('page.created_at', directionOf(traits))
      .orderBy('page.id', directionOf(traits)),
  ),
)

/** The rows before a later page are skipped in the index, without reading them. */
function pageRows(
  db: Pick<QueryCreator<Database>, 'selectFrom'>,
  value: ParamOf<PageValues>,
  traits: readonly Trait[],
) {
  const rows = db
    .selectFrom('users')
    .select(listedColumns.map((name) => `users.${name}` as const))
    .select([sql<number>`users.tableoid`.as('table_id'), cursorPosition.as('place')])
  if (!traits.includes('by_index')) return inPage(rows, value, traits)
  const ids = inPage(db.selectFrom('users').select('users.id'), value, traits)
  return rows.where((eb) => eb('users.id', '=', sql<string>`any(array(${ids}))`))
}

function inPage<Row>(
  query: SelectQueryBuilder<Database, 'users', Row>,
  value: ParamOf<PageValues>,
  traits: readonly Trait[],
) {
  return query
    .where(isListed(value, traits))
    .$if(traits.includes('after'), (qb) =>
      qb.where(isAfterCursor(value('createdAt'), value('afterId'), directionOf(traits))),
    )
    .orderBy('users.created_at', directionOf(traits))
    .orderBy('users.id', directionOf(traits))
    .$if(!traits.includes('first_page'), (qb) => qb.offset(value('offset')))
    .limit(limitOf(value, traits))
}

/** A page by number: the rows after the cursor, if there is one, of which some are skipped. */
export interface PageWindow {
  offset: number
  size: number
  after?: Cursor | undefined
}

/**
 * Returns one page and one more row, which tells whether there is a next page. The matches are counted, up to
 * `exactCountLimit` + 1, only when there is one and the table is small by its statistics: counting costs many times
 * what finding the first page does.
 */
export function listPage(
  db: Db,
  listing: Listing,
  { offset, size, after }: PageWindow,
): Promise<CountedUser[]> {
  const { createdAt = 0, id = '' } = after ?? {}
  const values = { ...listValues(listing), offset, size, createdAt, afterId: id }
  return pageStatement(traitsOf(listing, { offset, size, ...(after && { after }) }))(db, values)
}

/** The row after which the page starts. */
export interface Cursor {
  /** Microseconds since the epoch: a Date would lose rows of one millisecond. */
  createdAt: number
  id: string
}

/** The latest time of a cursor, in microseconds: the year 2255, exact in a double. It stands for infinity. */
export const endOfTime = 9_000_000_000_000_000

type AfterValues = ListValues & { size: number; createdAt: number; afterId: string }
type PageValues = AfterValues & { offset: number }

/** When the row was created, as cursors name it. */
export const cursorPosition = sql<number>`case when isfinite(users.created_at)
  then (extract(epoch from users.created_at) * 1000000)::bigint
  when users.created_at = '-infinity' then ${sql.lit(-endOfTime)}
  else ${sql.lit(endOfTime)} end`

const afterStatement = queryVariants((traits: readonly Trait[]) =>
  queryMany((db, value: ParamOf<AfterValues>) =>
    db
      .selectFrom('users')
      .select(selectListedColumns('users'))
      .select(cursorPosition.as('place'))
      .where(isListed(value, traits))
      .$if(traits.includes('after'), (qb) =>
        qb.where(isAfterCursor(value('createdAt'), value('afterId'), directionOf(traits))),
      )
      .orderBy('users.created_at', directionOf(traits))
      .orderBy('users.id', directionOf(traits))
      .limit(limitOf(value, traits)),
  ),
)

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

/** Returns the page after a cursor, at the same cost for any depth, and one more row. */
export function listAfter(
  db: Db,
  listing: Listing,
  { after, size }: { after: Cursor | undefined; size: number },
): Promise<(ListedUserRow & { place: number })[]> {
  const { createdAt = 0, id = '' } = after ?? {}
  const values = { ...listValues(listing), size, createdAt, afterId: id }
  return afterStatement(traitsOf(listing, { size, ...(after && { after }) }))(db, values)
}
