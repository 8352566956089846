/**
 * `npm run dev`: the server without configuration. An embedded Postgres and all secrets are created at the first start
 * and stored in .data/; emails and SMS go to an inbox.
 */
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { withDotEnv } from '../../config/dot-env.ts'
import type { Config } from '../../config/groups/index.ts'
import { readConfig } from '../../config/read-config.ts'
import { buildDocs, hasDocs } from '../../dev/docs/build.ts'
import { createLogger } from '../../plugins/observability/logger/index.ts'
import { firstAdminLink } from '../../server/first-admin-link.ts'
import { untilSignal } from '../../server/until-signal.ts'
import { startServer } from '../../server.ts'
import { runDoctorChecks } from '../doctor/index.ts'
import { makeApiTokens } from './api-tokens.ts'
import { persistDevInbox } from './inbox.ts'
import { openDatabase } from './open-database.ts'
import { asDevelopmentError } from './other-key.ts'
import { withPresets } from './presets.ts'
import { registerDevServer } from './running-server.ts'
import { devSecrets } from './secrets.ts'
import { welcome } from './welcome.ts'

export const usage = `npm run dev -- [--database-url URL]

Starts Postgres and the server, and prints their URLs. --database-url uses your own Postgres
instead. PORT=9000 npm run dev uses another port; docs/getting-started.md has details.`

/** An open inbox page must not delay the shutdown. In milliseconds. */
const maxCloseMs = 5_000

/** Runs the command. Throws an Error with one sentence when it cannot start, and cleans up before. */
export async function run(args: readonly string[]): Promise<void> {
  const options = { 'database-url': { type: 'string' } } as const
  const given = parseArgs({ args: [...args], options }).values['database-url']
  // Registered first: a signal during the start must not leave Postgres running.
  const signalled = untilSignal(['SIGINT', 'SIGTERM', 'SIGHUP'])
  const begin = performance.now()
  const own = withDotEnv(process.env)
  const env = given === undefined ? own : { ...own, DATABASE_URL: given }
  const dir = resolve('.data')
  const database = await openDatabase(env, { dir, given })
  try {
    const { created_at, ...secrets } = devSecrets(dir, new Date())
    const values = withPresets(env, { ...secrets, DATABASE_URL: database.url })
    const config = readConfig(values, { dev: true, warn: (notice) => console.warn(notice) })
    if (hasDocs) await buildDocs().catch(warnUnwritable)
    const app = await startServer(
      config,
      createLogger(logSettings(config)).log,
      runDoctorChecks,
    ).catch((error) => {
      throw asDevelopmentError(error, env)
    })
    if (app.devInbox) persistDevInbox(app.devInbox, dir)
    const withdraw = registerDevServer(dir, values)
    const tokens = await makeApiTokens(config, created_at)
    const link = await firstAdminLink(config)
    console.log(welcome({ config, tokens, link, seconds: (performance.now() - begin) / 1000 }))
    await signalled
    withdraw()
    await Promise.race([app.close(), pause(maxCloseMs)])
  } finally {
    await database.stop()
  }
  process.exit(0)
}

function logSettings({ LOG_LEVEL, AUTH_LOG_FILE }: Config) {
  return { level: LOG_LEVEL, file: AUTH_LOG_FILE }
}

/** A checkout that belongs to another user keeps the documentation that was built last. */
function warnUnwritable(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'EACCES' && code !== 'EROFS') throw error
  console.warn(
    'docs/dist cannot be written: /docs/guide shows an older build of the documentation.',
  )
}
