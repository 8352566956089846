import type { Db } from './database.ts'

/** Of one row: a known text, encrypted with the key that was current when somebody last looked. */
export interface EncryptionProbeTable {
  id: string
  value: string
}

export async function findProbe(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('postern_encryption_probe')
    .select('value')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.value
}

/** Replaces `old`, or adds the first one. Another replica may be faster; then nothing is changed. */
export async function putProbe(db: Db, id: string, value: string, old: string | undefined) {
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
