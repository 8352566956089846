/** Settings that are changed while the server runs, and their history. */
import { type Selectable, sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { lockName } from '../core/locks.ts'
import { queryMany } from '../core/statement.ts'
import type { SettingChangesTable, SettingsTable } from '../tables/server.ts'

type StoredSetting = SettingsTable
type SettingChangeRow = Selectable<SettingChangesTable>

/** Notifies every replica that settings have changed, when the transaction ends. */
export const settingsChannel = 'postern_settings'

const listRows = queryMany((db) => db.selectFrom('postern_settings').selectAll().orderBy('name'))

export function listSettings(db: Db): Promise<StoredSetting[]> {
  return listRows(db, {})
}

/** Serializes changes of settings. */
export async function lockSettings(trx: Trx): Promise<void> {
  await lockName(trx, 'postern_settings')
}

export async function upsertSetting(trx: Trx, row: StoredSetting): Promise<void> {
  const { name, ...columns } = row
  await trx
    .insertInto('postern_settings')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(columns))
    .execute()
}

export async function deleteSetting(trx: Trx, name: string): Promise<void> {
  await trx.deleteFrom('postern_settings').where('name', '=', name).execute()
}

export async function insertSettingChange(
  trx: Trx,
  change: Omit<SettingChangeRow, 'id'>,
): Promise<void> {
  await trx.insertInto('postern_setting_changes').values(change).execute()
}

export async function notifySettingsChanged(trx: Trx): Promise<void> {
  await sql`select pg_notify(${settingsChannel}, '')`.execute(trx)
}

/** Newest first, and one more than a page. */
export function listSettingChanges(
  db: Db,
  { name, before }: { name: string | undefined; before: number | undefined },
  size: number,
): Promise<SettingChangeRow[]> {
  return db
    .selectFrom('postern_setting_changes')
    .selectAll()
    .$if(name !== undefined, (qb) => qb.where('name', '=', name ?? ''))
    .$if(before !== undefined, (qb) => qb.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(size + 1)
    .execute()
}

export function findSettingChange(db: Db, id: number): Promise<SettingChangeRow | undefined> {
  return db
    .selectFrom('postern_setting_changes')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
}
