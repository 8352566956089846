/** Changing, locking and removing a person's row. */
import { sql } from 'kysely'

import type { Db } from './database.ts'
import {
  namesIn,
  preparedFor,
  preparedRow,
  preparedWrite,
  type ValueOf,
  valuesOf,
} from './prepared-statement.ts'
import type { UserRow } from './users.ts'

/** Columns a caller may set; metadata is merged by `mergeMetadata`, never set here. */
export type UserChange = Partial<
  Omit<UserRow, 'id' | 'confirmed_at' | 'raw_app_meta_data' | 'raw_user_meta_data' | 'created_at'>
>

type ChangedValues = UserChange & { key: string; now: Date }

const updateColumns = preparedFor((names: readonly (keyof UserChange)[]) =>
  preparedWrite((db, value: ValueOf<ChangedValues>) =>
    db
      .updateTable('users')
      .set({ ...valuesOf(value, names), updated_at: value('now') })
      .where('id', '=', value('key')),
  ),
)

export async function updateUser(db: Db, id: string, change: UserChange, now: Date): Promise<void> {
  await updateColumns(namesIn(change))(db, { ...change, key: id, now })
}

const lockById = preparedRow((db, value: ValueOf<{ id: string }>) =>
  db.selectFrom('users').select('id').where('id', '=', value('id')).forUpdate(),
)

/** Locks the row until the transaction ends, so that two requests about one person take turns. */
export async function lockUser(db: Db, id: string): Promise<void> {
  await lockById(db, { id })
}

const lockAll = preparedRow((db, value: ValueOf<{ ids: readonly string[] }>) =>
  db
    .selectFrom('users')
    .select('id')
    .where('id', '=', sql<string>`any(${value('ids')}::uuid[])`)
    .orderBy('id')
    .forUpdate(),
)

/** Locks several at once, always in one order, so that no two requests wait for each other. */
export async function lockUsers(db: Db, ids: readonly string[]): Promise<void> {
  await lockAll(db, { ids })
}

const deleteById = preparedWrite((db, value: ValueOf<{ id: string }>) =>
  db.deleteFrom('users').where('id', '=', value('id')),
)

export async function deleteUser(db: Db, id: string): Promise<boolean> {
  return (await deleteById(db, { id })) > 0
}
