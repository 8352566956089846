/** The signing keys of the configured server, for commands that run beside it. */
import { createDb } from '../db/database.ts'
import { createPool } from '../plugins/db.ts'
import { createEncryption, encryptionKeys } from '../plugins/encryption.ts'
import { createSigningKeys, type SigningKeys } from '../plugins/signing-keys.ts'
import type { Config } from '../schemas/config/config.ts'
import { withDotEnv } from '../schemas/config/dot-env.ts'
import { readConfig } from '../schemas/config/read-config.ts'

/** Reads the environment and `.env`, lets `use` work with the keys, and closes the database again. */
export async function withSigningKeys(
  use: (keys: SigningKeys, config: Config) => Promise<void>,
): Promise<void> {
  const env = withDotEnv(process.env)
  const config = readConfig(env, { dev: false, warn: (message) => console.error(message) })
  const log = {
    info() {},
    warn: (_details: unknown, message?: string) => console.error(message),
  }
  const pool = createPool({ connectionString: config.DATABASE_URL, max: 1, log })
  try {
    const db = createDb(pool, config.AUTH_DB_NAMESPACE)
    const encryption = createEncryption(encryptionKeys(config))
    const keys = createSigningKeys({ db, config, encryption, log })
    await keys.sync(new Date())
    await use(keys, config)
  } finally {
    await pool.end()
  }
}
