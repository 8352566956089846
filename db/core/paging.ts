import { type Expression, type SelectQueryBuilder, sql } from 'kysely'

import type { Database } from './database.ts'

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
