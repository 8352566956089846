/** Stores every secret of GoTrue's tables in the form that an encryption seals to. */
import type { Db } from '../../db/database.ts'
import { findSecrets, replaceSecrets, secretColumns } from '../../db/stored-secrets.ts'
import { nilUuid } from '../../db/users.ts'
import type { Encryption } from '../../plugins/encryption.ts'

const batch = 1000

/** Returns how many were stored anew. Throws DecryptionError for one whose key is not configured. */
export async function resealSecrets(
  db: Db,
  schema: string,
  encryption: Encryption,
): Promise<number> {
  let count = 0
  for (const where of secretColumns) {
    let after = nilUuid
    for (;;) {
      const found = await findSecrets(db, schema, where, after, batch)
      const last = found.at(-1)
      if (!last) break
      after = last.id
      const changed = found
        .filter(({ value }) => !encryption.isSealed(value))
        .map(({ id, value }) => {
          const plain = encryption.decrypt(id, value, `${where.table}.${where.column}`)
          return { id, value, stored: encryption.seal(id, plain) }
        })
      if (changed.length > 0) await replaceSecrets(db, schema, where, changed)
      count += changed.length
    }
  }
  return count
}
