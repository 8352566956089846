/**
 * Reads and deletes in parts: lists that continue after a row, and deletions by a number of rows or by table pages.
 */
import { type Expression, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'

import type { Database, Db } from './database.ts'

export interface PagedQuery {
  from: number
  to: number
}

/** More rows than the pages of one range can hold. */
export const maxPerRange = 1_000_000

/**
 * Selects the keys in an array subquery that runs once, so that the plan looks `limit` rows up by key, however large
 * the table is.
 */
export function whereChosen<T extends keyof Database, C extends string, V>(
  ids: Ids<T, C, V>,
  limit: number,
): Expression<V> {
  return sql<V>`any(array(${ids.limit(limit).forUpdate().skipLocked()}))`
}

type Ids<T extends keyof Database, C extends string, V> = SelectQueryBuilder<
  Database,
  T,
  Record<C, V>
>

export async function count(deletion: Deletion): Promise<number> {
  return Number((await deletion.executeTakeFirstOrThrow()).numDeletedRows)
}

interface Deletion {
  executeTakeFirstOrThrow(): Promise<{ numDeletedRows: bigint }>
}

/** Matches the rows in a range of table pages. */
export function inPages(table: 'sessions' | 'refresh_tokens', { from, to }: PagedQuery) {
  const place = sql.ref(`${table}.ctid`)
  return sql<boolean>`${place} >= ${`(${from},0)`}::tid and ${place} < ${`(${to},0)`}::tid`
}

/** Counts up to this limit are exact; above it Postgres's statistics are used. */
export const exactCountLimit = 10_000

/** The row after which a list by creation, newest first, continues. */
export interface RowCursor {
  /** Since the epoch: more than a Date holds, as rows of one millisecond must not be lost. */
  microseconds: number
  id: string
}

export const epochMicroseconds = (column: string) =>
  sql<number>`(extract(epoch from ${sql.ref(column)}) * 1000000)::float8`

/** Whether a row follows the one of the cursor. */
export const isBeforeRow = ({ microseconds, id }: RowCursor, time = 'created_at', key = 'id') =>
  sql<SqlBool>`(${sql.ref(time)}, ${sql.ref(key)}) <
    ('epoch'::timestamptz + ${microseconds}::float8 * interval '1 microsecond', ${id}::uuid)`

/** Returns the number of pages of the table, 0 for an empty one. */
export async function countPages(
  db: Db,
  table: 'refresh_tokens' | 'sessions' | 'users',
): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select(
      sql<number>`pg_relation_size(tableoid) / current_setting('block_size')::bigint`.as('pages'),
    )
    .limit(1)
    .executeTakeFirst()
  return row?.pages ?? 0
}
