/** The metadata merge as a part of statements that update a user. */
import { type RawBuilder, sql } from 'kysely'

import type { ParamOf } from '../core/statement.ts'
import { storedObject } from '../core/stored-json.ts'
import type { UserMetadata } from '../tables/users.ts'

export interface MetadataChange {
  app?: UserMetadata | undefined
  user?: UserMetadata | undefined
}

/** A statement writes only the objects that are merged. */
export type MetadataName = keyof MetadataChange

export interface MetadataValues {
  /** JSON. */
  appSet: string
  appDeleted: string[]
  userSet: string
  userDeleted: string[]
}

export function metadataNames({ app, user }: MetadataChange): MetadataName[] {
  return [...(app ? ['app' as const] : []), ...(user ? ['user' as const] : [])]
}

/** A null value deletes its key (contract of the metadata fields). */
export function metadataValues({ app = {}, user = {} }: MetadataChange): MetadataValues {
  const [appSet, appDeleted] = split(app)
  const [userSet, userDeleted] = split(user)
  return { appSet, appDeleted, userSet, userDeleted }
}

function split(change: UserMetadata): [set: string, deleted: string[]] {
  const set = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null))
  return [JSON.stringify(set), Object.keys(change).filter((key) => change[key] === null)]
}

export function mergedColumns(value: ParamOf<MetadataValues>, names: readonly string[]) {
  return {
    ...(names.includes('app') && { raw_app_meta_data: merged(value, 'app') }),
    ...(names.includes('user') && { raw_user_meta_data: merged(value, 'user') }),
  }
}

/** Maximum size of each object and of both together, in bytes of JSON. */
export interface MetadataLimits {
  each: number
  together: number
}

/**
 * Whether metadata is within the limits after the merge, or does not grow. Evaluated on the locked row, so that
 * concurrent changes cannot exceed the limits together.
 */
export function isWithinMaxBytes(
  value: ParamOf<MetadataValues & MetadataLimits>,
  names: readonly MetadataName[],
) {
  const conditions = names.map(
    (name) => sql<boolean>`${bytes(merged(value, name))}
      <= greatest(${value('each')}, ${bytes(columns[name])})`,
  )
  const after = (name: MetadataName) => (names.includes(name) ? merged(value, name) : columns[name])
  const together = sql<boolean>`${bytes(after('app'))} + ${bytes(after('user'))}
    <= greatest(${value('together')}, ${bytes(columns.app)} + ${bytes(columns.user)})`
  return names.length === 0
    ? sql<boolean>`true`
    : sql<boolean>`${sql.join([...conditions, together], sql` and `)}`
}

const columns = { app: sql.ref('raw_app_meta_data'), user: sql.ref('raw_user_meta_data') }

const bytes = (json: RawBuilder<unknown>) => sql<number>`coalesce(octet_length((${json})::text), 0)`

function merged(value: ParamOf<MetadataValues>, name: MetadataName) {
  const set = value(`${name}Set`)
  const deleted = value(`${name}Deleted`)
  return sql<string>`(${storedObject(columns[name])} || ${set}::jsonb) - ${deleted}::text[]`
}
