/** Merging metadata at its top level, as a part of statements that write a person's row. */
import { sql } from 'kysely'

import type { ValueOf } from './prepared-statement.ts'
import type { Metadata } from './users.ts'

export interface MetadataChange {
  app?: Metadata | undefined
  user?: Metadata | undefined
}

/** What is merged: a statement writes only what it is named. */
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

function split(change: Metadata): [set: string, deleted: string[]] {
  const set = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null))
  return [JSON.stringify(set), Object.keys(change).filter((key) => change[key] === null)]
}

export function mergedColumns(value: ValueOf<MetadataValues>, names: readonly string[]) {
  return {
    ...(names.includes('app') && { raw_app_meta_data: merged(value, 'app') }),
    ...(names.includes('user') && { raw_user_meta_data: merged(value, 'user') }),
  }
}

/**
 * Whether metadata has at most `maxBytes` then, or no more than it has. Of the row as it is when its turn comes, so that
 * changes at once cannot pass the limit together.
 */
export function fits(
  value: ValueOf<MetadataValues & { maxBytes: number }>,
  names: readonly MetadataName[],
) {
  const conditions = names.map(
    (name) => sql<boolean>`octet_length((${merged(value, name)})::text)
      <= greatest(${value('maxBytes')}, octet_length(${columns[name]}::text))`,
  )
  return sql<boolean>`${sql.join([sql`true`, ...conditions], sql` and `)}`
}

const columns = { app: sql.ref('raw_app_meta_data'), user: sql.ref('raw_user_meta_data') }

function merged(value: ValueOf<MetadataValues>, name: MetadataName) {
  const set = value(`${name}Set`)
  const deleted = value(`${name}Deleted`)
  return sql<string>`(coalesce(${columns[name]}, '{}'::jsonb) || ${set}::jsonb) - ${deleted}::text[]`
}
