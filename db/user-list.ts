/** Pages of the list of people, by number or after a cursor: one statement each, which reads and sorts people once. */
import { type SqlBool, sql } from 'kysely'

import type { Db } from './database.ts'
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
import type { UserRow } from './users.ts'

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

const listedColumns = ['id', 'is_anonymous', ...texts, ...times, ...metadata] as const

/** What lists show of a person, in the text of Postgres: times in UTC, without a zone, and metadata as JSON. */
export type ListedUser = Pick<UserRow, 'id' | 'is_anonymous' | (typeof texts)[number]> &
  Record<(typeof times)[number] | (typeof metadata)[number], string | null>

function asText(table: 'users' | 'page') {
  const column = (name: (typeof listedColumns)[number]) => sql.ref(`${table}.${name}`)
  const inUtc = (name: (typeof times)[number]) => sql`(${column(name)} at time zone 'utc')`
  return [
    sql<string>`${column('id')}`.as('id'),
    sql<boolean>`${column('is_anonymous')}`.as('is_anonymous'),
    ...texts.map((name) => sql<string | null>`${column(name)}`.as(name)),
    ...times.map((name) => sql<string | null>`${inUtc(name)}::text`.as(name)),
    ...metadata.map((name) => sql<string | null>`${column(name)}::text`.as(name)),
  ]
}

/** What makes the statements of lists differ. */
type Trait = 'oldest first' | 'after' | Searched

function traitsOf(listing: Listing, after?: Cursor): Trait[] {
  return [
    ...searchedIn(listing),
    ...(listing.direction === 'asc' ? ['oldest first' as const] : []),
    ...(after ? ['after' as const] : []),
  ]
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
            .offset(value('offset'))
            .limit(sql<number>`${value('size')}::bigint + 1`),
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
  return pageStatement(traitsOf(listing))(db, { ...listValues(listing), ...window })
}

/** The row after which the list goes on. */
export interface Cursor {
  /** Microseconds since the epoch: more than a Date holds, as rows of one millisecond must not be lost. */
  createdAt: number
  id: string
}

/** The latest moment a cursor can name, in microseconds: the year 2255, exact in a double. */
export const endOfTime = 9_000_000_000_000_000

type AfterValues = ListValues & { size: number; createdAt: number; afterId: string }

const afterStatement = preparedFor((traits: readonly Trait[]) =>
  preparedRows((db, value: ValueOf<AfterValues>) =>
    db
      .selectFrom('users')
      .select(asText('users'))
      .select(
        sql<number>`coalesce((extract(epoch from users.created_at) * 1000000)::bigint, ${sql.lit(endOfTime)})`.as(
          'place',
        ),
      )
      .where(isListed(value, traits))
      .$if(traits.includes('after'), (qb) => qb.where(isAfter(value, directionOf(traits))))
      .orderBy('users.created_at', directionOf(traits))
      .orderBy('users.id', directionOf(traits))
      .limit(sql<number>`${value('size')}::bigint + 1`),
  ),
)

function isAfter(value: ValueOf<AfterValues>, direction: 'asc' | 'desc') {
  const comparison = sql.raw(direction === 'asc' ? '>' : '<')
  return sql<SqlBool>`(users.created_at, users.id) ${comparison}
    ('epoch'::timestamptz + ${value('createdAt')}::float8 * interval '1 microsecond', ${value('afterId')}::uuid)`
}

/** What follows a cursor, however deep it lies, and one row more. */
export function listAfter(
  db: Db,
  listing: Listing,
  { after, size }: { after: Cursor | undefined; size: number },
): Promise<(ListedUser & { place: number })[]> {
  const { createdAt = 0, id = '' } = after ?? {}
  const values = { ...listValues(listing), size, createdAt, afterId: id }
  return afterStatement(traitsOf(listing, after))(db, values)
}
