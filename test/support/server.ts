/** The whole server for a test: its own database, its own mail server, nothing pretended. */
import type { FastifyInstance } from 'fastify'
import pino from 'pino'

import { buildApp } from '../../app.ts'
import { createPino } from '../../plugins/logger.ts'
import { configOf, encryptionKey } from './config.ts'
import { cloneDatabase, type TestDatabase } from './database.ts'
import type { Ending } from './ending.ts'
import { startMailServer } from './mail-server.ts'

export type App = FastifyInstance

/** Cheap hashes and no waiting between mails: what is tested elsewhere, and slow. */
const quick = {
  AUTH_PASSWORD_ARGON2_MEMORY: '8192',
  AUTH_PASSWORD_ARGON2_TIME: '1',
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
  /** A migrated one; a clone of the template when absent. */
  database?: TestDatabase
}

export type Built = Awaited<ReturnType<typeof build>>

/** Builds the server and closes it, with all it needs, when the test ends. */
export async function build(t: Ending, options: BuildOptions = {}) {
  const opened: (() => Promise<unknown>)[] = []
  t.after(async () => {
    for (const close of opened.reverse()) await close()
  })
  const mail = await startMailServer()
  opened.push(mail.stop)
  const database = options.database ?? (await cloneDatabase())
  opened.push(database.drop)
  const settings = { ...quick, ...mail.env, DATABASE_URL: database.url, ...options.env }
  const config = configOf(settings, options.dev ?? false)
  const app = await buildApp({ config, log: logTo(options.lines) })
  opened.push(() => app.close())
  await app.ready()
  return { app, mail, config, database }
}

function logTo(lines: string[] | undefined) {
  if (!lines) return pino({ level: 'silent' })
  return createPino('debug', { write: (line: string) => void lines.push(line) })
}
