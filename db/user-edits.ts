/** Changes of a person that touch metadata: merged at the top level, where null deletes a key. */
import { sql } from 'kysely'

import { type AuditEntry, auditInsert } from './audit-log-entries.ts'
import type { Db } from './database.ts'
import { userColumns } from './user-columns.ts'
import type { Metadata, UserChange, UserRow } from './users.ts'

/** What one statement may change of a person; metadata is merged at the top level, null deletes a key. */
export interface UserEdit {
  columns?: UserChange
  app?: Metadata | undefined
  user?: Metadata | undefined
}

/** The change, the audit entry and the row as it is then, in one round trip; undefined when nobody has this id. */
export function editUser(
  db: Db,
  id: string,
  { columns, app, user }: UserEdit,
  audit: AuditEntry | undefined,
  now: Date,
): Promise<UserRow | undefined> {
  return db
    .with('audited', (eb) => auditInsert(eb, audit, now))
    .updateTable('users')
    .set({
      ...columns,
      updated_at: now,
      ...(app && { raw_app_meta_data: merged('raw_app_meta_data', app) }),
      ...(user && { raw_user_meta_data: merged('raw_user_meta_data', user) }),
    })
    .where('id', '=', id)
    .returning(userColumns)
    .executeTakeFirst()
}

/** Merges at the top level; a null value deletes its key (contract of the metadata fields). */
export async function mergeMetadata(
  db: Db,
  id: string,
  metadata: { app?: Metadata; user?: Metadata },
  now: Date,
): Promise<void> {
  await db
    .updateTable('users')
    .set({
      updated_at: now,
      ...(metadata.app && { raw_app_meta_data: merged('raw_app_meta_data', metadata.app) }),
      ...(metadata.user && { raw_user_meta_data: merged('raw_user_meta_data', metadata.user) }),
    })
    .where('id', '=', id)
    .execute()
}

function merged(column: 'raw_app_meta_data' | 'raw_user_meta_data', change: Metadata) {
  const set = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null))
  const deleted = Object.keys(change).filter((key) => change[key] === null)
  return sql<string>`(coalesce(${sql.ref(column)}, '{}'::jsonb) || ${JSON.stringify(set)}::jsonb) - ${deleted}::text[]`
}

/** Replaces a metadata object whole: for an account whose earlier data was nobody's proven own. */
export async function replaceUserMetadata(db: Db, id: string, metadata: Metadata, now: Date) {
  await db
    .updateTable('users')
    .set({ raw_user_meta_data: JSON.stringify(metadata), updated_at: now })
    .where('id', '=', id)
    .execute()
}
