import { sql } from 'kysely'

import type { Config } from '../../config/groups/index.ts'
import type { Db } from '../../db/core/database.ts'
import { gotrueSecretColumns } from '../../db/keys/encrypted-columns.ts'
import {
  encryptionKeyId,
  encryptionKeys,
  gotrueEncryptionKeys,
} from '../../plugins/security/encryption/keys.ts'
import { ok, stop, type TakeoverFinding } from './finding.ts'

/** Checks that every encryption key in use is configured. */
export async function ciphertext(
  db: Db,
  schema: string,
  config: Config,
): Promise<TakeoverFinding[]> {
  // Includes the keys of this server, also after `finish`.
  const own = encryptionKeys(config).map(encryptionKeyId)
  const known = [...own, ...gotrueEncryptionKeys(config).map(({ id }) => id)]
  const columns = [...gotrueSecretColumns, { table: 'users', column: 'encrypted_password' }]
  const ids = new Set<string>()
  for (const { table, column } of columns) {
    const { rows } = await sql<{ id: string }>`
      select distinct substring(${sql.ref(column)} from '"key_id":"([^"]+)"') as id
      from ${sql.id(schema, table)} where ${sql.ref(column)} like '{%'
    `.execute(db)
    for (const { id } of rows) if (id) ids.add(id)
  }
  return [...ids].map((id) =>
    known.includes(id)
      ? ok(`Secrets under the key "${id}" can be decrypted.`)
      : stop(
          `Secrets under the key "${id}" cannot be decrypted: add it to AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS.`,
        ),
  )
}
