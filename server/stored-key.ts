/** Checks that the configured keys decrypt stored data, before the migrations change anything. */
import type { Config } from '../config/groups/index.ts'
import { configuredEncryption } from '../plugins/security/encryption/index.ts'
import { probe } from '../plugins/security/encryption-probe.ts'
import { withClient } from './with-client.ts'

/** Throws DecryptionError. A new database, and one of GoTrue's, has no probe yet. */
export async function checkStoredKey(config: Config): Promise<void> {
  const { DATABASE_URL: connectionString, AUTH_DB_NAMESPACE: schema } = config
  const stored = await withClient({ connectionString }, async (client) => {
    const table = `${client.escapeIdentifier(schema)}.postern_encryption_probe`
    const known = await client.query<{ found: boolean }>(
      'select to_regclass($1) is not null as found',
      [table],
    )
    if (!known.rows[0]?.found) return undefined
    const { rows } = await client.query<{ value: string }>(
      `select value from ${table} where id = $1`,
      [probe.id],
    )
    return rows[0]?.value
  })
  if (stored === undefined) return
  const encryption = configuredEncryption(config, { isShared: false })
  encryption.decrypt(probe.id, stored, 'The stored data')
}
