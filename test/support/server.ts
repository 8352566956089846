/** The whole server for a test: its own database and its own mail server, without mocks. */
import type { FastifyInstance } from 'fastify'
import pino from 'pino'

import type { Config } from '../../config/groups/index.ts'
import { emailKindDefinitions } from '../../mail/kinds/index.ts'
import { createPino } from '../../plugins/observability/logger/index.ts'
import { buildApp } from '../../server/app.ts'
import { encryptionKey, testConfig } from './config.ts'
import { cloneDatabase, type TestDatabase, withoutDrop } from './database.ts'
import { startMailServer } from './messages/mail-server.ts'
import { recordStatements } from './plans/recorder.ts'
import { type Ending, lastFirst } from './processes/ending.ts'

export type App = FastifyInstance

/** Cheap hashes, no send intervals and no notifications: other tests cover them, and they are slow. */
const quick = {
  ...Object.fromEntries(
    Object.values(emailKindDefinitions).flatMap((kind) =>
      'event' in kind ? [[`AUTH_MAILER_NOTIFICATIONS_${kind.event}_ENABLED`, 'false']] : [],
    ),
  ),
  AUTH_PASSWORD_ARGON2_MEMORY: '8192',
  AUTH_PASSWORD_ARGON2_TIME: '1',
  // A busy machine must not cause a 504.
  AUTH_API_MAX_REQUEST_DURATION: '60s',
  AUTH_JWT_ALGORITHM: 'ES256',
  AUTH_ENCRYPTION_KEY: encryptionKey,
  AUTH_RATE_LIMIT_EMAIL_SENT: '100000',
  AUTH_SMTP_MAX_FREQUENCY: '0',
  AUTH_DB_MAX_POOL_SIZE: '10',
}

export interface BuildOptions {
  env?: Record<string, string>
  dev?: boolean
  /** Log lines, as they were written. */
  lines?: string[]
  /** A migrated one; by default that of DATABASE_URL in `env`, which is not dropped, or a clone of the template. */
  database?: TestDatabase
  /** Called before the server is ready, when its routes are known. */
  prepare?: (app: App) => void
}

export type Built = Awaited<ReturnType<typeof build>>

/** Builds the server and closes it, with all it needs, when the test ends. */
export async function build(t: Ending, options: BuildOptions = {}) {
  // The runner keeps a test's hooks: theirs must not keep the server, so nothing else is in scope where they are made.
  const { after } = lastFirst(t)
  const mail = await startMailServer()
  after(mail.stop)
  const given = options.env?.DATABASE_URL
  const database = options.database ?? (given ? withoutDrop({ url: given }) : await cloneDatabase())
  after(database.drop)
  const settings = { ...quick, ...mail.env, DATABASE_URL: database.url, ...options.env }
  const config = testConfig(settings, options.dev ?? false)
  const app = await buildApp({ config, log: logTo(options.lines), examine })
  after(() => app.close())
  if (config.AUTH_DB_NAMESPACE === 'auth') recordStatements(app.pool)
  options.prepare?.(app)
  await app.ready()
  return { app, mail, config, database }
}

const examine = async (config: Config) =>
  (await import('../../cli/doctor/index.ts')).runDoctorChecks(config)

function logTo(lines: string[] | undefined) {
  if (!lines) return pino({ level: 'silent' })
  return createPino('debug', { write: (line: string) => void lines.push(line) })
}
