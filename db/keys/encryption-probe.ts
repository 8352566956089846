import type { Db } from '../core/database.ts'

export async function findProbe(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('postern_encryption_probe')
    .select('value')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.value
}

/** Replaces `old`, or inserts the first probe. Changes nothing when another replica did before. */
export async function upsertProbe(db: Db, id: string, value: string, old: string | undefined) {
  if (old === undefined) {
    await db
      .insertInto('postern_encryption_probe')
      .values({ id, value })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return
  }
  await db
    .updateTable('postern_encryption_probe')
    .set({ value })
    .where('id', '=', id)
    .where('value', '=', old)
    .execute()
}
