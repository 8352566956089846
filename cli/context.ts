/** What commands that run beside the server work with: its configuration, its database, and the keys to what is stored. */
import { createDb, type Db } from '../db/database.ts'
import type { Config } from '../plugins/config/config.ts'
import { ConfigError, type Mistake } from '../plugins/config/mistake.ts'
import { readConfig } from '../plugins/config/read-config.ts'
import { configuredEncryption, type Encryption } from '../plugins/encryption.ts'
import { createPool } from '../plugins/pool.ts'
import { commandEnvironment } from './environment.ts'

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
 * Reads the environment and `.env`, or finds the development server of this folder; lets the command work, and closes
 * the database again. `notify` is told what is unwise in the configuration. Throws before anything is opened when the
 * configuration has mistakes.
 */
export async function withContext(
  notify: (notice: string) => void,
  work: (context: CommandContext) => Promise<void>,
): Promise<void> {
  const config = readCommandConfig(notify)
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

/** Throws an Error that names every mistake. */
export function readCommandConfig(notify: (notice: string) => void): Config {
  const { env, dev } = commandEnvironment()
  try {
    return readConfig(env, { dev, warn: dev ? () => {} : notify })
  } catch (error) {
    if (!(error instanceof ConfigError) || !lacksDatabase(error)) throw error
    throw new Error(
      `${error.message}\nFor a development server: start npm run dev in this folder, and the command finds it.\nWith docker compose: docker compose exec postern node cli.ts COMMAND; the container has its variables.`,
    )
  }
}

/** The command may be meant for a server whose variables are elsewhere. */
export function lacksDatabase({ mistakes }: ConfigError): boolean {
  return mistakes.some(isAboutMissingDatabase)
}

function isAboutMissingDatabase({ variable, problem }: Mistake): boolean {
  return variable === 'DATABASE_URL' && problem.startsWith('is not set')
}
