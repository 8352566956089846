/** Re-encrypts every secret with the current key, in small batches while the server runs. */
import { setTimeout as pause } from 'node:timers/promises'

import type { Db } from '../../db/core/database.ts'
import {
  findSecrets,
  gotrueSecretColumns,
  posternSecretColumns,
  type SecretColumn,
  type StoredSecret,
} from '../../db/keys/encrypted-columns.ts'
import { DecryptionError, type Encryption } from '../../plugins/security/encryption/index.ts'
import { reencryptStored } from '../shared/reencrypt-stored.ts'

const batch = 500
/** Pause between two batches in milliseconds, so that requests are not delayed. */
const pauseMs = 20

interface Reencrypted {
  stored: number
  unreadable: number
}

/** May be interrupted at any time and run again. */
export async function reencryptSecrets(
  db: Db,
  schema: string,
  encryption: Encryption,
): Promise<Reencrypted> {
  const total = { stored: 0, unreadable: 0 }
  const { encrypt, isCurrent, seal, isSealed } = encryption
  const groups = [
    { columns: gotrueSecretColumns, isDone: isSealed, store: seal },
    { columns: posternSecretColumns, isDone: isCurrent, store: encrypt },
  ]
  for (const { columns, isDone, store } of groups) {
    for (const where of columns) {
      for await (const found of batches(db, schema, where)) {
        const due = found.filter(({ value }) => !isDone(value))
        const read = due.flatMap((secret) => opened(encryption, secret, where))
        const changed = read.map(({ plain, ...secret }) => ({
          ...secret,
          stored: store(secret.id, plain),
        }))
        await reencryptStored(db, schema, where, changed)
        total.stored += changed.length
        total.unreadable += due.length - changed.length
      }
    }
  }
  return total
}

async function* batches(db: Db, schema: string, where: SecretColumn) {
  let after: string | undefined
  for (;;) {
    const found = await findSecrets(db, schema, where, after, batch)
    const last = found.at(-1)
    if (!last) return
    yield found
    after = last.id
    await pause(pauseMs)
  }
}

/** Undefined for a secret whose key is missing: the others can still be re-encrypted. */
function opened(
  encryption: Encryption,
  { id, value }: StoredSecret,
  { table, column }: SecretColumn,
): (StoredSecret & { plain: string })[] {
  try {
    return [{ id, value, plain: encryption.decrypt(id, value, `${table}.${column}`) }]
  } catch (error) {
    if (error instanceof DecryptionError) return []
    throw error
  }
}
