/** Progress of user imports. */
import type { Selectable } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import type { ImportsTable } from '../tables/users.ts'

export type ImportProgress = Pick<
  Selectable<ImportsTable>,
  'id' | 'settled' | 'imported' | 'refused'
>

export function findImport(db: Db, id: string): Promise<Selectable<ImportsTable> | undefined> {
  return db.selectFrom('postern_imports').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Starts the import, or restarts it at the first row. */
export async function startImport(db: Db, id: string, now: Date): Promise<ImportProgress> {
  const progress = { settled: 0, imported: 0, refused: 0 }
  await db
    .insertInto('postern_imports')
    .values({ id, ...progress, created_at: now, updated_at: now, finished_at: null })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ ...progress, updated_at: now, finished_at: null }),
    )
    .execute()
  return { id, ...progress }
}

/** Stores the progress from one state to the next; false when another process did before. */
export async function updateImportProgress(
  trx: Trx,
  from: ImportProgress,
  { settled, imported, refused }: ImportProgress,
  now: Date,
): Promise<boolean> {
  const result = await trx
    .updateTable('postern_imports')
    .set({ settled, imported, refused, updated_at: now })
    .where('id', '=', from.id)
    .where('settled', '=', from.settled)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

export async function finishImport(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('postern_imports').set({ finished_at: now }).where('id', '=', id).execute()
}
