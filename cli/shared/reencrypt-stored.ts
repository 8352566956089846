import type { Db } from '../../db/core/database.ts'
import {
  type ChangedSecret,
  replaceFreeSecrets,
  replaceSecret,
  type SecretColumn,
} from '../../db/keys/encryption.ts'

/** Re-encrypts rows while the server runs: unlocked ones in batches, the others one by one. */
export async function reencryptStored(
  db: Db,
  schema: string,
  where: SecretColumn,
  secrets: readonly ChangedSecret[],
): Promise<void> {
  if (secrets.length === 0) return
  const stored = new Set(await replaceFreeSecrets(db, schema, where, secrets))
  for (const secret of secrets) {
    if (!stored.has(secret.id)) await replaceSecret(db, schema, where, secret)
  }
}
