/** Stores every secret of GoTrue's tables in the form that an encryption seals to. */
import type { Db } from '../../db/database.ts'
import {
  findSecrets,
  gotrueSecretColumns,
  type SecretColumn,
  type StoredSecret,
} from '../../db/stored-secrets.ts'
import type { Encryption } from '../../plugins/encryption.ts'
import { storeAnew } from '../keys/store-anew.ts'

const batch = 1000

/**
 * Returns how many were stored anew. Throws DecryptionError for one whose key is not configured, before any is changed.
 */
export async function resealSecrets(
  db: Db,
  schema: string,
  encryption: Encryption,
): Promise<number> {
  await checkSecrets(db, schema, encryption)
  let count = 0
  for await (const { where, found } of batches(db, schema)) {
    const changed = found
      .filter(({ value }) => !encryption.isSealed(value))
      .map((secret) => {
        const stored = encryption.seal(secret.id, plainOf(encryption, where, secret))
        return { ...secret, stored }
      })
    await storeAnew(db, schema, where, changed)
    count += changed.length
  }
  return count
}

/** Throws DecryptionError for the first secret that cannot be read. */
export async function checkSecrets(db: Db, schema: string, encryption: Encryption): Promise<void> {
  for await (const { where, found } of batches(db, schema)) {
    for (const secret of found) plainOf(encryption, where, secret)
  }
}

function plainOf(encryption: Encryption, { table, column }: SecretColumn, secret: StoredSecret) {
  return encryption.decrypt(secret.id, secret.value, `${table}.${column}`)
}

async function* batches(db: Db, schema: string) {
  for (const where of gotrueSecretColumns) {
    let after: string | undefined
    for (;;) {
      const found = await findSecrets(db, schema, where, after, batch)
      const last = found.at(-1)
      if (!last) break
      after = last.id
      yield { where, found }
    }
  }
}
