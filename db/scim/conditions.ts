/**
 * Filters and pages of SCIM requests as SQL. Column names come from the table of attributes; paths and values are
 * parameters.
 */
import { expressionBuilder, type RawBuilder, sql } from 'kysely'

import type { Database } from '../core/database.ts'

type Comparison = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le'

/** `text` is compared without regard to case. */
export type ValueType = 'text' | 'exact' | 'boolean' | 'time'

/** The location of a value: a column, or a path in the resource or in an element of one of its lists. */
export type Place =
  /** `isFolded`: stored in lower case. */
  | { column: string; type: ValueType; isFolded?: boolean }
  | { path: readonly string[]; type: ValueType }

export type Condition =
  | { kind: 'and' | 'or'; of: readonly Condition[] }
  | { kind: 'not'; of: Condition }
  | { kind: 'present'; place: Place }
  | { kind: 'compare'; place: Place; comparison: Comparison; value: string | boolean | Date | null }
  /** Some element of the list in the resource. */
  | { kind: 'some'; list: readonly string[]; where: Condition | undefined }
  /** Some group of the user, or some member of the group. */
  | { kind: 'related'; to: 'groups' | 'members'; where: Condition | undefined }

type Sql = RawBuilder<unknown>

/** The condition for rows of the table; `element` is the document that paths refer to. */
export function conditionSql(
  condition: Condition,
  table: string,
  element?: Sql,
): RawBuilder<boolean> {
  const document = element ?? sql`${sql.ref(`${table}.resource`)}`
  switch (condition.kind) {
    case 'and':
    case 'or': {
      const parts = condition.of.map((part) => conditionSql(part, table, element))
      return sql<boolean>`(${sql.join(parts, condition.kind === 'and' ? sql` and ` : sql` or `)})`
    }
    case 'not':
      return sql<boolean>`not coalesce(${conditionSql(condition.of, table, element)}, false)`
    case 'present':
      return presentSql(valueSql(condition.place, table, document))
    case 'compare':
      return compareSql(condition, valueSql(condition.place, table, document))
    case 'some':
      return someSql(condition, table, document)
    case 'related':
      return relatedSql(condition, table)
  }
}

/** As text, except for times. */
function valueSql(place: Place, table: string, document: Sql): Sql {
  if (!('column' in place)) return sql`(${document} #>> ${[...place.path]}::text[])`
  const column = sql`${sql.ref(`${table}.${place.column}`)}`
  return place.type === 'time' ? column : sql`${column}::text`
}

const presentSql = (value: Sql) =>
  sql<boolean>`coalesce(${value}::text, '') not in ('', '[]', '{}')`

function compareSql(
  { place, comparison, value }: Extract<Condition, { kind: 'compare' }>,
  stored: Sql,
): RawBuilder<boolean> {
  if (value === null) {
    return comparison === 'ne' ? presentSql(stored) : sql<boolean>`not ${presentSql(stored)}`
  }
  if (value instanceof Date) return orderedSql(comparison, stored, sql`${value}::timestamptz`)
  if (typeof value === 'boolean') {
    return orderedSql(comparison, sql`coalesce(${stored}, 'false')`, sql`${String(value)}::text`)
  }
  const given = sql`${value}::text`
  if (place.type !== 'text') return textSql(comparison, stored, given)
  const isFolded = 'column' in place && place.isFolded
  return textSql(comparison, isFolded ? stored : sql`lower(${stored})`, sql`lower(${given})`)
}

function textSql(comparison: Comparison, stored: Sql, value: Sql): RawBuilder<boolean> {
  if (comparison === 'co') return sql<boolean>`strpos(${stored}, ${value}) > 0`
  if (comparison === 'sw') return sql<boolean>`starts_with(${stored}, ${value})`
  if (comparison === 'ew') return sql<boolean>`right(${stored}, length(${value})) = ${value}`
  return orderedSql(comparison, stored, value)
}

const operators: Partial<Record<Comparison, Sql>> = {
  gt: sql`>`,
  ge: sql`>=`,
  lt: sql`<`,
  le: sql`<=`,
}

function orderedSql(comparison: Comparison, stored: Sql, value: Sql): RawBuilder<boolean> {
  if (comparison === 'ne') return sql<boolean>`${stored} is distinct from ${value}`
  return sql<boolean>`${stored} ${operators[comparison] ?? sql`=`} ${value}`
}

function someSql(
  { list, where }: Extract<Condition, { kind: 'some' }>,
  table: string,
  document: Sql,
): RawBuilder<boolean> {
  const elements = sql`jsonb_array_elements(case jsonb_typeof(${document} #> ${[...list]}::text[])
    when 'array' then ${document} #> ${[...list]}::text[] else '[]' end)`
  const matches = where ? conditionSql(where, table, sql`element`) : sql`true`
  return sql<boolean>`exists (select from ${elements} as elements(element) where ${matches})`
}

const { exists, selectFrom } = expressionBuilder<Database>()

/** Only the id of the other resource can be compared. */
function relatedSql(
  { to, where }: Extract<Condition, { kind: 'related' }>,
  table: string,
): RawBuilder<boolean> {
  const [own, other] =
    to === 'groups'
      ? (['scim_user_id', 'group_id'] as const)
      : (['group_id', 'scim_user_id'] as const)
  const document = sql`jsonb_build_object('value', ${sql.ref(`related.${other}`)})`
  const matches = where ? conditionSql(where, table, document) : sql<boolean>`true`
  const rows = selectFrom('postern_scim_group_members as related')
    .select(sql`1`.as('one'))
    .where(`related.${own}`, '=', sql<string>`${sql.ref(`${table}.id`)}`)
    .where(matches)
  return sql<boolean>`${exists(rows)}`
}

/** A page of resources in the order of their creation: by position or after a resource. */
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
