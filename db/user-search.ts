/** The list of people: pages of it, and who matches a search. */
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'

import type { Database, Db } from './database.ts'
import { userColumns } from './user-columns.ts'
import { nilUuid, type UserRow } from './users.ts'

/** A text that is looked for in several columns. */
export interface Search {
  /** SQL patterns of LIKE, escaped; a column without one is not looked into. */
  email?: string | undefined
  phone?: string | undefined
  /** In lower case. */
  name?: string | undefined
  id?: string | undefined
  /** Whole addresses. */
  owner?: Owner | undefined
}

export interface Owner {
  email: string | null
  phone: string | null
}

export interface Listing {
  aud: string
  direction: 'asc' | 'desc'
  search: Search | undefined
}

/** Up to so many are counted; above it, Postgres's own statistics are told instead. */
export const exactCountLimit = 10_000

/** By the statistics; -1 while there are none. */
const everybody = sql<number>`(select reltuples::bigint from pg_class where oid = users.tableoid)`

export type ListedUser = UserRow & { counted: number | null; estimated: number }

const isListed = ({ aud, search }: Listing) => {
  return (eb: ExpressionBuilder<Database, 'users'>): Expression<SqlBool> =>
    eb.and([
      eb('users.instance_id', '=', nilUuid),
      eb('users.aud', '=', aud),
      ...(search ? [eb.or(matches(eb, search))] : []),
    ])
}

function matches(eb: ExpressionBuilder<Database, 'users'>, search: Search) {
  const { email, phone, name, id, owner } = search
  return [
    ...(email ? [eb('users.email', 'like', email)] : []),
    ...(phone ? [eb('users.phone', 'like', phone)] : []),
    ...(name ? [sql<SqlBool>`lower(users.postern_name) like ${name}`] : []),
    ...(id ? [eb('users.id', '=', id)] : []),
    ...(owner ? [isOwner(owner)] : []),
  ]
}

/** In the form that users_instance_id_email_idx serves: the unique index leaves out people of organisations. */
function isOwner({ email, phone }: Owner) {
  return sql<SqlBool>`(lower(users.email) = ${email} or users.phone = ${phone})`
}

/**
 * One page by number and one row more, which tells whether another page follows. Only when one does, the matches
 * are counted, up to `exactCountLimit` + 1; those of a search only where there are few people, as counting them costs
 * many times what finding the first does.
 */
export function listPage(
  db: Db,
  listing: Listing,
  { offset, size }: { offset: number; size: number },
): Promise<ListedUser[]> {
  const { direction, search } = listing
  return db
    .with('page', (eb) =>
      eb
        .selectFrom('users')
        .select('users.id')
        .where(isListed(listing))
        .orderBy('users.created_at', direction)
        .orderBy('users.id', direction)
        .offset(offset)
        .limit(size + 1),
    )
    .with('counts', (eb) =>
      eb
        .selectFrom('users')
        .select('users.id')
        .where(isListed(listing))
        .limit(exactCountLimit + 1),
    )
    .selectFrom('page')
    .innerJoin('users', 'users.id', 'page.id')
    .select(userColumns)
    .select([
      sql<number | null>`case when (select count(*) from page) > ${size}
        and (${search === undefined} or ${everybody} <= ${exactCountLimit})
        then (select count(*) from counts) end`.as('counted'),
      sql<number>`${everybody}`.as('estimated'),
    ])
    .orderBy('users.created_at', direction)
    .orderBy('users.id', direction)
    .execute()
}

/** How many match, up to `exactCountLimit` + 1: for a page beyond the last. */
export async function countListed(db: Db, listing: Listing): Promise<number> {
  const { counted } = await db
    .selectFrom(
      db
        .selectFrom('users')
        .select('users.id')
        .where(isListed(listing))
        .limit(exactCountLimit + 1)
        .as('counts'),
    )
    .select((eb) => eb.fn.countAll<number>().as('counted'))
    .executeTakeFirstOrThrow()
  return counted
}

/** The planner's guess at how many match a search. */
export async function estimateListed(db: Db, listing: Listing): Promise<number> {
  const [plan] = await db
    .selectFrom('users')
    .select('users.id')
    .where(isListed(listing))
    .explain<{ 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }>('json')
  return plan?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0
}

/** The row after which the list goes on. */
export interface Cursor {
  /** Microseconds since the epoch: more than a Date holds, as rows of one millisecond must not be lost. */
  createdAt: number
  id: string
}

/** The latest moment a cursor can name, in microseconds: the year 2255, exact in a double. */
export const endOfTime = 9_000_000_000_000_000

/** What follows a cursor, however deep it lies, and one row more. */
export function listAfter(
  db: Db,
  listing: Listing,
  { after, size }: { after: Cursor | undefined; size: number },
): Promise<(UserRow & { place: number })[]> {
  const { direction } = listing
  const comparison = sql.raw(direction === 'asc' ? '>' : '<')
  return db
    .selectFrom('users')
    .select(userColumns)
    .select(
      sql<number>`coalesce((extract(epoch from users.created_at) * 1000000)::bigint, ${endOfTime})`.as(
        'place',
      ),
    )
    .where(isListed(listing))
    .$if(after !== undefined, (qb) =>
      qb.where(
        sql<SqlBool>`(users.created_at, users.id)
          ${comparison} ('epoch'::timestamptz + ${after?.createdAt}::float8 * interval '1 microsecond', ${after?.id}::uuid)`,
      ),
    )
    .orderBy('users.created_at', direction)
    .orderBy('users.id', direction)
    .limit(size + 1)
    .execute()
}

/** Whether somebody has one of these addresses, whole. */
export async function hasOwner(db: Db, owner: Owner, aud: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('users.id')
    .where('users.instance_id', '=', nilUuid)
    .where('users.aud', '=', aud)
    .where(isOwner(owner))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Whether any part of a text is found by index; otherwise only its start is. */
export async function hasTrigramIndex(db: Db, schema: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_index join pg_class on pg_class.oid = indexrelid
    where relname = 'postern_users_trigram_idx' and indisvalid
      and relnamespace = (select oid from pg_namespace where nspname = ${schema})
  `.execute(db)
  return rows.length > 0
}
