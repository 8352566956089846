/** Conditions of the statements that list, search and count users, and the expression of their index. */
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import { exactCountLimit } from '../core/paging.ts'
import { type ParamOf, queryOne, queryOneOrThrow, queryVariants } from '../core/statement.ts'
import { nilUuid } from '../tables/users.ts'

/** A search text for several columns. */
export interface UserSearch {
  /** Escaped LIKE patterns; a column without one is not searched. */
  email?: string | undefined
  phone?: string | undefined
  /** Case-insensitive. */
  name?: string | undefined
  id?: string | undefined
  /** Exact identifiers. */
  owner?: Owner | undefined
}

interface Owner {
  email: string | null
  phone: string | null
}

export interface Listing {
  aud: string
  direction: 'asc' | 'desc'
  search: UserSearch | undefined
}

/** Each combination of searched columns is a separate statement. */
export type Searched = keyof UserSearch

/** The indexed expression of a user's name. The conditions below must use the same text for the index to apply. */
export const searchedName =
  "lower(left(coalesce(raw_user_meta_data ->> 'full_name', raw_user_meta_data ->> 'name'), 255))"

/** Indexes for any part of an email address or phone number, and of a name unless names are not indexed. */
export const trigrams = {
  withNames: 'postern_users_trigram_idx',
  withoutNames: 'postern_users_addresses_trigram_idx',
}

const searchable = ['email', 'phone', 'name', 'id', 'owner'] as const

export function searchedIn({ search = {} }: Listing): Searched[] {
  return searchable.filter((name) => search[name])
}

export interface ListValues {
  aud: string
  email: string
  phone: string
  name: string
  id: string
  ownerEmail: string | null
  ownerPhone: string | null
}

export function listValues({ aud, search = {} }: Listing): ListValues {
  const { email = '', phone = '', name = '', id = '', owner } = search
  const whole = { ownerEmail: owner?.email ?? null, ownerPhone: owner?.phone ?? null }
  return { aud, email, phone, name, id, ...whole }
}

/**
 * The condition of postern_users_listed_idx. Without `is true`, Postgres would use GoTrue's index of `instance_id`, which
 * has all users, until the table is first analyzed.
 */
export const isOfInstance = sql<SqlBool>`(users.instance_id = ${sql.lit(nilUuid)}) is true`

export function isListed(value: ParamOf<ListValues>, searched: readonly string[]) {
  return (eb: ExpressionBuilder<Database, 'users'>): Expression<SqlBool> => {
    const found = matches(eb, value, searched)
    return eb.and([
      isOfInstance,
      eb('users.aud', '=', value('aud')),
      ...(found.length > 0 ? [eb.or(found)] : []),
    ])
  }
}

function matches(
  eb: ExpressionBuilder<Database, 'users'>,
  value: ParamOf<ListValues>,
  searched: readonly string[],
) {
  const conditions = {
    email: () => eb('users.email', 'like', value('email')),
    phone: () => eb('users.phone', 'like', value('phone')),
    // The same function on both sides: lower case depends on the collation and differs from JavaScript's.
    name: () => sql<SqlBool>`${sql.raw(searchedName)} like lower(${value('name')}::text)`,
    id: () => eb('users.id', '=', value('id')),
    owner: () => isOwner(value),
  }
  return searchable.filter((name) => searched.includes(name)).map((name) => conditions[name]())
}

/** Formulated for users_instance_id_email_idx: the unique index leaves out SSO users. */
function isOwner(value: ParamOf<Pick<ListValues, 'ownerEmail' | 'ownerPhone'>>) {
  const hasEmail = sql`users.instance_id = ${sql.lit(nilUuid)} and lower(users.email) = ${value('ownerEmail')}`
  return sql<SqlBool>`((${hasEmail}) or users.phone = ${value('ownerPhone')})`
}

/** The condition with literal values, for a statement that is planned for them. */
export function isListedBy(listing: Listing) {
  const values = listValues(listing)
  return isListed((name) => sql`${values[name]}`, searchedIn(listing))
}

const countStatement = queryVariants((searched: readonly Searched[]) =>
  queryOneOrThrow((db, value: ParamOf<ListValues>) => {
    const table = db.selectFrom('users').select(sql<number>`users.tableoid`.as('id'))
    // -1 without statistics.
    const estimated = sql`(select reltuples from pg_class where oid = (${table.orderBy('users.id').limit(sql.lit(1))}))`
    const matches = db
      .selectFrom('users')
      .select('users.id')
      .where(isListed(value, searched))
      .limit(sql.lit(exactCountLimit + 1))
    return db.selectNoFrom(
      sql<number | null>`case when ${estimated} <= ${sql.lit(exactCountLimit)}
        then (select count(*) from (${matches}) as matches) end`.as('counted'),
    )
  }),
)

/**
 * Counts the matches, up to `exactCountLimit` + 1, or returns null when the table is large by its statistics: counting
 * costs many times what finding the first page does.
 */
export async function countInSmallTable(db: Db, listing: Listing): Promise<number | null> {
  const { counted } = await countStatement(searchedIn(listing))(db, listValues(listing))
  return counted
}

/** Counts the matches, up to `exactCountLimit` + 1. */
export async function countListed(db: Db, listing: Listing): Promise<number> {
  const { counted } = await db
    .selectFrom(
      db
        .selectFrom('users')
        .select('users.id')
        .where(isListedBy(listing))
        .limit(exactCountLimit + 1)
        .as('counts'),
    )
    .select((eb) => eb.fn.countAll<number>().as('counted'))
    .executeTakeFirstOrThrow()
  return counted
}

/** The planner's estimate of the number of matches. */
export async function estimateListed(db: Db, listing: Listing): Promise<number> {
  const [plan] = await db
    .selectFrom('users')
    .select('users.id')
    .where(isListedBy(listing))
    .explain<{ 'QUERY PLAN': { Plan: { 'Plan Rows': number } }[] }>('json')
  return plan?.['QUERY PLAN'][0]?.Plan['Plan Rows'] ?? 0
}

type OwnerValues = Pick<ListValues, 'aud' | 'ownerEmail' | 'ownerPhone'>

const findOwner = queryOne((db, value: ParamOf<OwnerValues>) =>
  db
    .selectFrom('users')
    .select('users.id')
    .where('users.instance_id', '=', sql.lit(nilUuid))
    .where('users.aud', '=', value('aud'))
    .where(isOwner(value))
    .limit(sql.lit(1)),
)

/** Whether a user has exactly one of these identifiers. */
export async function hasOwner(db: Db, { email, phone }: Owner, aud: string): Promise<boolean> {
  return (await findOwner(db, { aud, ownerEmail: email, ownerPhone: phone })) !== undefined
}

/** Whether any substring is found by an index; otherwise only prefixes are. */
export async function hasTrigramIndex(db: Db, schema: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from pg_index join pg_class on pg_class.oid = indexrelid
    where relname = any(${Object.values(trigrams)}::text[]) and indisvalid
      and relnamespace = (select oid from pg_namespace where nspname = ${schema})
  `.execute(db)
  return rows.length > 0
}
