/**
 * `npm run dev`: the whole product without configuration. A Postgres of our own and all secrets are made at
 * the first start and kept in .data/; mail and text messages stay in an inbox.
 */
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../plugins/config/config.ts'
import { withDotEnv } from '../plugins/config/dot-env.ts'
import { readConfig } from '../plugins/config/read-config.ts'
import { createLogger } from '../plugins/logger.ts'
import { startServer } from '../server.ts'
import { makeApiTokens } from './dev/api-tokens.ts'
import { keptSecrets } from './dev/kept-secrets.ts'
import { openDatabase } from './dev/open-database.ts'
import { withPresets } from './dev/presets.ts'
import { welcome } from './dev/welcome.ts'
import { untilSignal } from './until-signal.ts'

/** A page that listens for mail must not keep the server from stopping. */
const longestCloseMs = 5_000

/** The command. Throws, with one sentence, what keeps it from starting; nothing stays behind then. */
export async function run(): Promise<void> {
  // First of all: a signal that comes during the start must not leave Postgres behind.
  const signalled = untilSignal(['SIGINT', 'SIGTERM', 'SIGHUP'])
  const begin = performance.now()
  const env = withDotEnv(process.env)
  const dir = resolve('.data')
  const database = await openDatabase(env, dir)
  try {
    const { created_at, ...secrets } = keptSecrets(dir, new Date())
    const values = withPresets(env, { ...secrets, DATABASE_URL: database.url })
    const config = readConfig(values, { dev: true, warn: (notice) => console.warn(notice) })
    const app = await startServer(config, createLogger(logSettings(config)).log)
    const tokens = await makeApiTokens(config, created_at)
    console.log(welcome({ config, tokens, seconds: (performance.now() - begin) / 1000 }))
    await signalled
    await Promise.race([app.close(), pause(longestCloseMs)])
  } finally {
    await database.stop()
  }
  process.exit(0)
}

function logSettings({ LOG_LEVEL, AUTH_LOG_FILE }: Config) {
  return { level: LOG_LEVEL, file: AUTH_LOG_FILE }
}
