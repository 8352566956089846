/** Pages of the list of people, by number or after a cursor: one statement each, which reads and sorts people once. */
import { type SqlBool, sql } from 'kysely'

import type { Db } from './database.ts'
import { asText, type ListedUser, listedColumns } from './listed-user.ts'
import { preparedFor, preparedRows, type ValueOf } from './prepared-statement.ts'
import {
  exactCountLimit,
  isListed,
  type Listing,
  type ListValues,
  listValues,
  type Searched,
  searchedIn,
} from './user-search.ts'

/** What makes the statements of lists differ. */
type Trait = 'oldest first' | 'after' | 'usual size' | 'first page' | Searched

/** How many people most lists ask for at once. */
const usualSize = 50

/**
 * Numbers that are usual stand in the text. Where they are values, Postgres takes a plan for all values to read a tenth
 * of the table, and so makes a new plan for each list of a large one, which takes longer than the list. A search has to
 * be planned for what it looks for in any case.
 */
function traitsOf(listing: Listing, place: { size: number; offset?: number; after?: Cursor }) {
  const { size, offset, after } = place
  const searched = searchedIn(listing)
  const traits: Trait[] = [
    ...searched,
    ...(listing.direction === 'asc' ? ['oldest first' as const] : []),
    ...(after ? ['after' as const] : []),
    ...(searched.length === 0 && size === usualSize ? ['usual size' as const] : []),
    ...(searched.length === 0 && offset === 0 ? ['first page' as const] : []),
  ]
  return traits
}

/** One row more than the page, which tells whether another page follows. */
function limitOf(value: ValueOf<{ size: number }>, traits: readonly Trait[]) {
  if (traits.includes('usual size')) return sql.lit(usualSize + 1)
  return sql<number>`${value('size')}::bigint + 1`
}

const directionOf = (traits: readonly Trait[]) => (traits.includes('oldest first') ? 'asc' : 'desc')

export type CountedUser = ListedUser & { counted: number | null }

/** By the statistics; -1 while there are none. Found once for all rows. */
const everybody = sql<number>`(select reltuples::bigint from pg_class
  where oid = (select page.table_id from page limit 1))`

const pageStatement = preparedFor((traits: readonly Trait[]) =>
  preparedRows((db, value: ValueOf<ListValues & { offset: number; size: number }>) =>
    db
      .with(
        (cte) => cte('page').materialized(),
        (eb) =>
          eb
            .selectFrom('users')
            .select(listedColumns.map((name) => `users.${name}` as const))
            .select(sql<number>`users.tableoid`.as('table_id'))
            .where(isListed(value, traits))
            .orderBy('users.created_at', directionOf(traits))
            .orderBy('users.id', directionOf(traits))
            .$if(!traits.includes('first page'), (qb) => qb.offset(value('offset')))
            .limit(limitOf(value, traits)),
      )
      .with('counts', (eb) =>
        eb
          .selectFrom('users')
          .select('users.id')
          .where(isListed(value, traits))
          .limit(sql.lit(exactCountLimit + 1)),
      )
      .selectFrom('page')
      .select(asText('page'))
      .select([
        sql<number | null>`case when (select count(*) from page) > ${value('size')}::bigint
          and ${everybody} <= ${sql.lit(exactCountLimit)} then (select count(*) from counts) end`.as(
          'counted',
        ),
      ])
      .orderBy('page.created_at', directionOf(traits))
      .orderBy('page.id', directionOf(traits)),
  ),
)

/**
 * One page by number and one row more, which tells whether another page follows. Only when one does, and where there are
 * few people by the statistics, the matches are counted, up to `exactCountLimit` + 1: counting them costs many times what
 * finding the first does.
 */
export function listPage(
  db: Db,
  listing: Listing,
  window: { offset: number; size: number },
): Promise<CountedUser[]> {
  return pageStatement(traitsOf(listing, window))(db, { ...listValues(listing), ...window })
}

/** The row after which the list goes on. */
export interface Cursor {
  /** Microseconds since the epoch: more than a Date holds, as rows of one millisecond must not be lost. */
  createdAt: number
  id: string
}

/** The latest moment a cursor can name, in microseconds: the year 2255, exact in a double. It stands for infinity. */
export const endOfTime = 9_000_000_000_000_000

type AfterValues = ListValues & { size: number; createdAt: number; afterId: string }

const afterStatement = preparedFor((traits: readonly Trait[]) =>
  preparedRows((db, value: ValueOf<AfterValues>) =>
    db
      .selectFrom('users')
      .select(asText('users'))
      .select(
        sql<number>`case when isfinite(users.created_at)
          then (extract(epoch from users.created_at) * 1000000)::bigint
          when users.created_at = '-infinity' then ${sql.lit(-endOfTime)}
          else ${sql.lit(endOfTime)} end`.as('place'),
      )
      .where(isListed(value, traits))
      .$if(traits.includes('after'), (qb) => qb.where(isAfter(value, directionOf(traits))))
      .orderBy('users.created_at', directionOf(traits))
      .orderBy('users.id', directionOf(traits))
      .limit(limitOf(value, traits)),
  ),
)

function isAfter(value: ValueOf<AfterValues>, direction: 'asc' | 'desc') {
  const comparison = sql.raw(direction === 'asc' ? '>' : '<')
  const createdAt = sql`${value('createdAt')}::float8`
  return sql<SqlBool>`(users.created_at, users.id) ${comparison} (
    case ${createdAt} when ${sql.lit(endOfTime)} then 'infinity' when ${sql.lit(-endOfTime)} then '-infinity'
      else 'epoch'::timestamptz + ${createdAt} * interval '1 microsecond' end,
    ${value('afterId')}::uuid)`
}

/** What follows a cursor, however deep it lies, and one row more. */
export function listAfter(
  db: Db,
  listing: Listing,
  { after, size }: { after: Cursor | undefined; size: number },
): Promise<(ListedUser & { place: number })[]> {
  const { createdAt = 0, id = '' } = after ?? {}
  const values = { ...listValues(listing), size, createdAt, afterId: id }
  return afterStatement(traitsOf(listing, { size, ...(after && { after }) }))(db, values)
}
