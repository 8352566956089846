/** The configuration, database and encryption for commands that run next to the server. */
import type { PostgresPool } from 'kysely'

import { ConfigError, type ConfigIssue } from '../../config/core/config-error.ts'
import { withDotEnv } from '../../config/dot-env.ts'
import { type Config, variables } from '../../config/groups/index.ts'
import { type Environment, lookUp } from '../../config/names.ts'
import { readConfig } from '../../config/read-config.ts'
import { createDb, type Db } from '../../db/core/database.ts'
import { createPool } from '../../plugins/database/pool/index.ts'
import { configuredEncryption, type Encryption } from '../../plugins/security/encryption/index.ts'
import { findRunningServer } from '../dev/running-server.ts'

export interface CommandContext {
  config: Config
  db: Db
  /** The connections of `db`. */
  pool: PostgresPool
  encryption: Encryption
  /** The Postgres schema of the jobs. */
  queueSchema: string
}

/** Two: one reads a table while the other writes. */
const connections = 2

/**
 * Reads the environment and `.env`, or finds the development server of this folder, runs the command and closes the
 * database. `notify` receives configuration notices. Throws before a connection is opened when the configuration is
 * invalid.
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
      pool,
      db: createDb(pool, config.AUTH_DB_NAMESPACE),
      encryption: configuredEncryption(config, { isShared: false }),
      queueSchema: `${config.AUTH_DB_NAMESPACE}_jobs`,
    })
  } finally {
    await pool.end()
  }
}

/** Throws an Error with every invalid variable. */
export function readCommandConfig(notify: (notice: string) => void): Config {
  const { env, dev } = commandEnvironment()
  try {
    return readConfig(env, { dev, warn: dev ? () => {} : notify })
  } catch (error) {
    if (!(error instanceof ConfigError) || !lacksDatabase(error)) throw error
    throw new Error(
      `${error.message}\nFor a development server: start npm run dev in this folder; the command then finds it.\nWith docker compose: docker compose exec postern node cli.ts COMMAND; the container has its variables.`,
    )
  }
}

/** True when the database is missing: the variables may belong to another server. */
export function lacksDatabase({ issues }: ConfigError): boolean {
  return issues.some(isAboutMissingDatabase)
}

function isAboutMissingDatabase({ variable, problem }: ConfigIssue): boolean {
  return variable === 'DATABASE_URL' && problem.startsWith('is not set')
}

interface CommandEnvironment {
  env: Environment
  /** They come from the development server that runs in this folder. */
  dev: boolean
}

/** The environment and `.env`; without a database, the development server of this folder adds its variables. */
export function commandEnvironment(): CommandEnvironment {
  const env = withDotEnv(process.env)
  const hasDatabase = lookUp(env, 'DATABASE_URL', variables.DATABASE_URL) !== undefined
  const running = hasDatabase ? undefined : findRunningServer('.data')
  return running ? { env: { ...env, ...running }, dev: true } : { env, dev: false }
}
