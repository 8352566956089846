/** Rehashing of a password. */
import type { Db } from '../core/database.ts'
import { executeStatement, type ParamOf } from '../core/statement.ts'

interface RenewedHash {
  key: string
  now: Date
  old: string
  renewed: string
}

const renewed = executeStatement((db, value: ParamOf<RenewedHash>) =>
  db
    .updateTable('users')
    .set({ encrypted_password: value('renewed'), updated_at: value('now') })
    .where('id', '=', value('key'))
    .where('encrypted_password', '=', value('old')),
)

/** Stores another hash of the same password; false when the stored hash has changed. */
export async function renewPasswordHash(
  db: Db,
  id: string,
  hashes: { old: string; renewed: string },
  now: Date,
): Promise<boolean> {
  return (await renewed(db, { ...hashes, key: id, now })) > 0
}
