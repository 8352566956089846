/**
 * `npm run dev`: the whole product without configuration. A Postgres of our own and all secrets are made at
 * the first start and kept in .data/; mail and text messages stay in an inbox.
 */
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import type { Config } from '../plugins/config/config.ts'
import { withDotEnv } from '../plugins/config/dot-env.ts'
import { readConfig } from '../plugins/config/read-config.ts'
import { createLogger } from '../plugins/logger.ts'
import { startServer } from '../server.ts'
import { makeApiTokens } from './dev/api-tokens.ts'
import { keepInbox } from './dev/kept-inbox.ts'
import { keptSecrets } from './dev/kept-secrets.ts'
import { openDatabase } from './dev/open-database.ts'
import { asDevelopmentError } from './dev/other-key.ts'
import { withPresets } from './dev/presets.ts'
import { announceServer } from './dev/running-server.ts'
import { welcome } from './dev/welcome.ts'
import { untilSignal } from './until-signal.ts'

export const usage = `npm run dev -- [--database-url URL]

Starts Postgres and the server, and prints their addresses. --database-url takes a Postgres of yours
instead. PORT=9000 npm run dev listens elsewhere; docs/quick-start.md says more.`

/** A page that listens for mail must not keep the server from stopping. */
const longestCloseMs = 5_000

/** The command. Throws, with one sentence, what keeps it from starting; nothing stays behind then. */
export async function run(args: readonly string[]): Promise<void> {
  const options = { 'database-url': { type: 'string' } } as const
  const given = parseArgs({ args: [...args], options }).values['database-url']
  // First of all: a signal that comes during the start must not leave Postgres behind.
  const signalled = untilSignal(['SIGINT', 'SIGTERM', 'SIGHUP'])
  const begin = performance.now()
  const own = withDotEnv(process.env)
  const env = given === undefined ? own : { ...own, DATABASE_URL: given }
  const dir = resolve('.data')
  const database = await openDatabase(env, { dir, given })
  try {
    const { created_at, ...secrets } = keptSecrets(dir, new Date())
    const values = withPresets(env, { ...secrets, DATABASE_URL: database.url })
    const config = readConfig(values, { dev: true, warn: (notice) => console.warn(notice) })
    const app = await startServer(config, createLogger(logSettings(config)).log).catch((error) => {
      throw asDevelopmentError(error, env)
    })
    if (app.devInbox) keepInbox(app.devInbox, dir)
    const withdraw = announceServer(dir, values)
    const tokens = await makeApiTokens(config, created_at)
    console.log(welcome({ config, tokens, seconds: (performance.now() - begin) / 1000 }))
    await signalled
    withdraw()
    await Promise.race([app.close(), pause(longestCloseMs)])
  } finally {
    await database.stop()
  }
  process.exit(0)
}

function logSettings({ LOG_LEVEL, AUTH_LOG_FILE }: Config) {
  return { level: LOG_LEVEL, file: AUTH_LOG_FILE }
}
