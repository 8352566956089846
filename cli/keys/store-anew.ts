import type { Db } from '../../db/database.ts'
import {
  type ChangedSecret,
  replaceFreeSecrets,
  replaceSecret,
  type SecretColumn,
} from '../../db/stored-secrets.ts'

/** Stores secrets in their new form, beside the traffic: together what nobody holds, and the rest one by one. */
export async function storeAnew(
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
