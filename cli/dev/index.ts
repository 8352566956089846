/**
 * `npm run dev`: the server without configuration. An embedded Postgres and all secrets are created at the first start
 * and stored in .data/; emails and SMS go to an inbox.
 */
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { SignJWT } from 'jose'

import { withDotEnv } from '../../config/dot-env.ts'
import { type Config, variables } from '../../config/groups/index.ts'
import { type Environment, lookUp } from '../../config/names.ts'
import { readConfig } from '../../config/read-config.ts'
import { buildDocs, hasDocs } from '../../dev/docs/build.ts'
import type { DevInbox, InboxMessage } from '../../plugins/messaging/dev-inbox.ts'
import { createLogger } from '../../plugins/observability/logger/index.ts'
import { DecryptionError } from '../../plugins/security/encryption/index.ts'
import { firstAdminLink } from '../../server/first-admin-link.ts'
import { untilSignal } from '../../server/until-signal.ts'
import { startServer } from '../../server.ts'
import { runDoctorChecks } from '../doctor/index.ts'
import { openDatabase } from './open-database.ts'
import { withPresets } from './presets.ts'
import { readableLine } from './readable-line.ts'
import { replaceFile } from './replace-file.ts'
import { registerDevServer } from './running-server.ts'
import { createSampleOrganization } from './sample-organization.ts'
import { devSecrets } from './secrets.ts'
import { type ApiTokens, welcome } from './welcome.ts'

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
  const dotEnv = withDotEnv(process.env)
  const env = given === undefined ? dotEnv : { ...dotEnv, DATABASE_URL: given }
  const dir = resolve('.data')
  const database = await openDatabase(env, { dir, given })
  try {
    const { created_at, ...secrets } = await devSecrets(dir, new Date())
    const own = { ...secrets, AUTH_SAML_ENABLED: 'true', DATABASE_URL: database.url }
    const values = withPresets(env, own)
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
    const hasSample = database.isOwn && (await createSampleOrganization(app, new Date()))
    const withdraw = registerDevServer(dir, values)
    const tokens = await makeApiTokens(config, created_at)
    const link = await firstAdminLink(config)
    const seconds = (performance.now() - begin) / 1000
    console.log(welcome({ config, tokens, link, seconds, hasSample }))
    await signalled
    withdraw()
    await Promise.race([app.close(), pause(maxCloseMs)])
  } finally {
    await database.stop()
  }
  process.exit(0)
}

/** A file is for programs, and stays as in production. */
function logSettings({ LOG_LEVEL: level, AUTH_LOG_FILE: file }: Config) {
  return file === undefined ? { level, format: readableLine } : { level, file }
}

/** A checkout that belongs to another user keeps the documentation that was built last. */
function warnUnwritable(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'EACCES' && code !== 'EROFS') throw error
  console.warn(
    'docs/dist cannot be written: /docs/guide shows an older build of the documentation.',
  )
}

// Handles a database in .data/ with another encryption key.

/** Returns a start error, with an explanation for a development server if it is about the key. */
function asDevelopmentError(error: unknown, env: Environment): unknown {
  const isOwn = lookUp(env, 'DATABASE_URL', variables.DATABASE_URL) === undefined
  const key = lookUp(env, 'AUTH_ENCRYPTION_KEY', variables.AUTH_ENCRYPTION_KEY)
  if (!(error instanceof DecryptionError) || !isOwn || key === undefined) return error
  return new Error(`The database in .data/ was created with another ${key.name} than the one in the environment or in .env.
  To keep it:     remove the variable (npm run secrets writes it to .env, for a deployment)
  To start over:  remove .data/`)
}

// Persists the inbox across restarts: its links and codes stay valid.

/** Restores the inbox from `dir` and persists every change. */
function persistDevInbox(inbox: DevInbox, dir: string): void {
  const file = join(dir, 'inbox.json')
  inbox.restore(read(file))
  inbox.subscribe(() => {
    replaceFile(file, JSON.stringify(inbox.list()))
  })
}

function read(file: string): InboxMessage[] {
  try {
    const messages: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return Array.isArray(messages) ? messages : []
  } catch {
    // Missing or unreadable: the inbox starts empty.
    return []
  }
}

const lifetimeSeconds = 10 * 365 * 86_400

/** Creates the anon and service_role tokens, the same at every start: HS256 with AUTH_JWT_SECRET. */
async function makeApiTokens(config: Config, issuedAt: Date): Promise<ApiTokens> {
  const secret = Buffer.from(config.AUTH_JWT_SECRET)
  const iat = Math.floor(issuedAt.getTime() / 1000)
  const sign = (role: string) =>
    new SignJWT({ role })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer('postern-dev')
      .setIssuedAt(iat)
      .setExpirationTime(iat + lifetimeSeconds)
      .sign(secret)
  return { anon: await sign('anon'), service_role: await sign('service_role') }
}
