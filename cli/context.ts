/** What commands that run beside the server work with: its configuration, its database, and the keys to what is stored. */
import { createDb, type Db } from '../db/database.ts'
import type { Config } from '../plugins/config/config.ts'
import { withDotEnv } from '../plugins/config/dot-env.ts'
import { readConfig } from '../plugins/config/read-config.ts'
import { configuredEncryption, type Encryption } from '../plugins/encryption.ts'
import { createPool } from '../plugins/pool.ts'

export interface CommandContext {
  config: Config
  db: Db
  encryption: Encryption
  /** The Postgres schema of the jobs. */
  queueSchema: string
}

/** Two, so that one can read a table while the other writes. */
const connections = 2

/**
 * Reads the environment and `.env`, lets the command work, and closes the database again. `notify` is told what is
 * unwise in the configuration. Throws ConfigError before anything is opened.
 */
export async function withContext(
  notify: (notice: string) => void,
  work: (context: CommandContext) => Promise<void>,
): Promise<void> {
  const config = readConfig(withDotEnv(process.env), { dev: false, warn: notify })
  const log = { warn: (_details: unknown, message?: string) => console.error(message) }
  const pool = createPool({ connectionString: config.DATABASE_URL, max: connections, log })
  try {
    await work({
      config,
      db: createDb(pool, config.AUTH_DB_NAMESPACE),
      encryption: configuredEncryption(config, { isShared: false }),
      queueSchema: `${config.AUTH_DB_NAMESPACE}_jobs`,
    })
  } finally {
    await pool.end()
  }
}
