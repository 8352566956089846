/** Re-encrypts every secret in GoTrue's tables. */
import type { Db } from '../../db/core/database.ts'
import {
  findSecrets,
  gotrueSecretColumns,
  type SecretColumn,
  type StoredSecret,
} from '../../db/keys/encrypted-columns.ts'
import type { Encryption } from '../../plugins/security/encryption/index.ts'
import { reencryptStored } from '../shared/reencrypt-stored.ts'

const batch = 1000

/**
 * Returns the number of re-encrypted secrets. Throws DecryptionError for one whose key is missing, before any is
 * changed.
 */
export async function reencryptStoredSecrets(
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
        const stored = encryption.seal(secret.id, decryptSecret(encryption, where, secret))
        return { ...secret, stored }
      })
    await reencryptStored(db, schema, where, changed)
    count += changed.length
  }
  return count
}

/** Throws DecryptionError for the first secret that cannot be decrypted. */
export async function checkSecrets(db: Db, schema: string, encryption: Encryption): Promise<void> {
  for await (const { where, found } of batches(db, schema)) {
    for (const secret of found) decryptSecret(encryption, where, secret)
  }
}

function decryptSecret(
  encryption: Encryption,
  { table, column }: SecretColumn,
  secret: StoredSecret,
) {
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
