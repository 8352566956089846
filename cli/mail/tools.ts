import { createDb, type Db } from '../../db/database.ts'
import { createPool } from '../../plugins/db.ts'
import { createEncryption, type Encryption, encryptionKeys } from '../../plugins/encryption.ts'
import { withDotEnv } from '../../schemas/config/dot-env.ts'
import { readConfig } from '../../schemas/config/read-config.ts'

export interface MailTools {
  db: Db
  encryption: Encryption
  /** The Postgres schema of the jobs. */
  queueSchema: string
}

/** Reads the environment and `.env`, lets `use` work with the queue, and closes the database again. */
export async function withMailTools(use: (tools: MailTools) => Promise<void>): Promise<void> {
  const env = withDotEnv(process.env)
  const config = readConfig(env, { dev: false, warn: (message) => console.error(message) })
  const log = { warn: (_details: unknown, message?: string) => console.error(message) }
  const pool = createPool({ connectionString: config.DATABASE_URL, max: 1, log })
  try {
    await use({
      db: createDb(pool, config.AUTH_DB_NAMESPACE),
      encryption: createEncryption(encryptionKeys(config)),
      queueSchema: `${config.AUTH_DB_NAMESPACE}_jobs`,
    })
  } finally {
    await pool.end()
  }
}
