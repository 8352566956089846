import { sql } from 'kysely'

import type { Db } from '../../db/database.ts'
import { gotrueSecretColumns } from '../../db/stored-secrets.ts'
import type { Config } from '../../plugins/config/config.ts'
import { encryptionKeys, keyId, takenOverKeys } from '../../plugins/encryption/keys.ts'
import { type Finding, ok, stop } from './finding.ts'

/** Whether every key is configured that something is encrypted with. */
export async function ciphertext(db: Db, schema: string, config: Config): Promise<Finding[]> {
  // A database that this server has been started on is looked at as well, also after `finish`.
  const own = encryptionKeys(config).map(keyId)
  const known = [...own, ...takenOverKeys(config).map(({ id }) => id)]
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
      ? ok(`Secrets under the key "${id}" can be read.`)
      : stop(
          `Secrets under the key "${id}" cannot be read: add it to AUTH_SECURITY_DB_ENCRYPTION_DECRYPTION_KEYS.`,
        ),
  )
}
