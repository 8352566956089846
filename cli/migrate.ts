import { withDotEnv } from '../config/dot-env.ts'
import { readConfig } from '../config/read-config.ts'
import { createLogger } from '../plugins/observability/logger/index.ts'
import { runMigrations } from '../server/migrate.ts'

export const usage = 'npm run migrate'

/** Runs the command. Throws ConfigError, SchemaTooNewError or errors of the database. */
export async function run(): Promise<void> {
  const notices: string[] = []
  const env = withDotEnv(process.env)
  const config = readConfig(env, { dev: false, warn: (notice) => notices.push(notice) })
  const { log } = createLogger({ level: config.LOG_LEVEL, file: config.AUTH_LOG_FILE })
  for (const notice of notices) log.warn(notice)
  await runMigrations({
    connectionString: config.DATABASE_URL,
    schema: config.AUTH_DB_NAMESPACE,
    indexesUserNames: config.AUTH_DB_INDEX_USER_NAMES,
    log,
  })
  log.info(`The schema ${config.AUTH_DB_NAMESPACE} is up to date`)
}
