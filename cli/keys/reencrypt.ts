/** Stores every secret anew under the key that encrypts, in small batches beside the traffic. */
import { setTimeout as pause } from 'node:timers/promises'

import type { Db } from '../../db/database.ts'
import {
  findSecrets,
  gotrueSecretColumns,
  ownSecretColumns,
  type SecretColumn,
  type StoredSecret,
} from '../../db/stored-secrets.ts'
import { DecryptionError, type Encryption } from '../../plugins/encryption.ts'
import { storeAnew } from './store-anew.ts'

const batch = 500
/** Between two batches, so that requests are not kept waiting. */
const pauseMs = 20

export interface Reencrypted {
  stored: number
  unreadable: number
}

/** May be cut off at any point and run again. */
export async function reencryptSecrets(
  db: Db,
  schema: string,
  encryption: Encryption,
): Promise<Reencrypted> {
  const total = { stored: 0, unreadable: 0 }
  const { encrypt, isCurrent, seal, isSealed } = encryption
  const groups = [
    { columns: gotrueSecretColumns, isDone: isSealed, store: seal },
    { columns: ownSecretColumns, isDone: isCurrent, store: encrypt },
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
        await storeAnew(db, schema, where, changed)
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

/** Nothing for one whose key is missing: the others need not wait for it. */
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
