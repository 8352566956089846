/** Pages of resources in the order of their creation: by position or after a resource. */
import { sql } from 'kysely'

export interface PageRequest {
  limit: number
  offset: number
  /** The resource after which the page begins. */
  after?: PagePosition | undefined
}

export interface PagePosition {
  /** With all digits: a Date has only milliseconds. */
  createdAt: string
  id: string
}

export const createdText = (table: string) => sql<string>`${sql.ref(`${table}.created_at`)}::text`

export const afterSql = (table: string, after: PagePosition | undefined) =>
  after
    ? sql<boolean>`(${sql.ref(`${table}.created_at`)}, ${sql.ref(`${table}.id`)}) >
        (${after.createdAt}::timestamptz, ${after.id}::uuid)`
    : sql<boolean>`true`
