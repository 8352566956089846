/** `npm run doctor`: checks a deployment and names what to correct. Read-only. */
import { access, constants, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'

import { ConfigError } from '../../config/core/config-error.ts'
import type { Config } from '../../config/groups/index.ts'
import { readConfig } from '../../config/read-config.ts'
import { createDb } from '../../db/core/database.ts'
import { createPool } from '../../plugins/database/pool/index.ts'
import { configuredProxies, createHttpClient } from '../../plugins/outgoing/http-client/index.ts'
import { configuredEncryption } from '../../plugins/security/encryption/index.ts'
import { lacksDatabase } from '../shared/context.ts'
import { commandEnvironment } from '../shared/environment.ts'
import { describeExpiredMetadata } from '../shared/expired-metadata.ts'
import { checkAddresses } from './addresses.ts'
import { checkCaptcha } from './captcha.ts'
import { checkDatabase } from './database.ts'
import { checkExternalUrl } from './external-url.ts'
import {
  type Check,
  type DoctorContext,
  type DoctorFinding,
  describeError,
  fail,
  pass,
  warn,
} from './finding.ts'
import { checkHooks } from './hooks.ts'
import { checkKeys } from './keys.ts'
import { checkMail } from './mail.ts'
import { checkMailDomain } from './mail-domain.ts'
import { checkProviders } from './providers.ts'
import { checkProxies } from './proxies.ts'
import { checkReplicas } from './replicas.ts'
import { checkSms } from './sms.ts'
import { checkTemplates } from './templates.ts'
import { upgradeChecks } from './upgrade.ts'

const timeoutMs = 3_000

/** Checks Redis, which shares the rate limit counters. */
export async function checkRedis({ config }: DoctorContext): Promise<DoctorFinding[]> {
  const { AUTH_REDIS_URL: url, AUTH_WORKERS: workers } = config
  if (!url) {
    if (workers === 1) return []
    return [
      warn(
        `Each of the ${workers} workers counts rate limits separately: set AUTH_REDIS_URL to share the counters.`,
      ),
    ]
  }
  const { Redis } = await import('ioredis')
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  })
  let lost: unknown
  client.on('error', (error) => {
    lost = error
  })
  try {
    await client.connect()
    await client.ping()
    return [pass('Redis responds.')]
  } catch (error) {
    const { host } = new URL(url)
    return [
      fail(
        `Redis at ${host} does not respond (${describeError(lost ?? error)}): each replica counts separately until it does. Check AUTH_REDIS_URL.`,
      ),
    ]
  } finally {
    client.disconnect()
  }
}

const gibibyte = 2 ** 30

/** Checks whether the log is writable, and the free space. */
export async function checkDisk({
  config,
}: Pick<DoctorContext, 'config'>): Promise<DoctorFinding[]> {
  const file = config.AUTH_LOG_FILE
  if (!file) return []
  const folder = dirname(file)
  try {
    await access(folder, constants.W_OK)
    const { bavail, bsize } = await statfs(folder)
    return [room(folder, bavail * bsize)]
  } catch (error) {
    return [
      fail(
        `The log cannot be written to ${folder} (${describeError(error)}): check AUTH_LOG_FILE.`,
      ),
    ]
  }
}

function room(folder: string, bytes: number): DoctorFinding {
  const fact = `${folder} has ${(bytes / gibibyte).toFixed(1)} GiB free for the log`
  if (bytes >= gibibyte) return pass(`${fact}.`)
  return warn(`${fact}: free some space, and rotate the log with logrotate.`)
}

export const usage = `npm run doctor                       checks the configuration and the services that this server uses
npm run doctor -- --json             the same as JSON
npm run doctor -- --to ADDRESS       asks the mail server whether it takes mail for this address; sends none
npm run doctor -- --upgrade          run by a new version: what its start will change`

/** In the order of the output. */
const checks: Record<string, Check> = {
  addresses: checkAddresses,
  proxies: checkProxies,
  database: checkDatabase,
  'read replicas': checkReplicas,
  keys: checkKeys,
  mail: checkMail,
  'mail domain': checkMailDomain,
  templates: checkTemplates,
  sms: checkSms,
  captcha: checkCaptcha,
  hooks: checkHooks,
  providers: checkProviders,
  saml: checkSaml,
  outside: checkExternalUrl,
  redis: checkRedis,
  disk: checkDisk,
}

const developmentHint =
  'This is the development server of this folder: a deployment needs what is warned about.'

const otherDatabaseHint =
  'For a development server: start npm run dev in this folder; the doctor then finds it. With docker compose, the container has the variables: docker compose exec postern node cli.ts doctor.'

const options = {
  json: { type: 'boolean', default: false },
  to: { type: 'string' },
  upgrade: { type: 'boolean', default: false },
} as const

interface Result extends DoctorFinding {
  check: string
}

/** Runs the command. The exit code is 1 when a check failed; warnings leave it at 0. */
export async function run(args: readonly string[]): Promise<void> {
  const { json, to, upgrade } = parseArgs({ args: [...args], options }).values
  if (to !== undefined && !/^[^\s<>@]+@[^\s<>@]+$/.test(to)) {
    throw new Error(`${to} is not an email address`)
  }
  const results = await examineEnvironment(upgrade ? upgradeChecks : checks, to)
  console.log(json ? JSON.stringify(summarize(results), null, 2) : toText(results))
  if (results.some(({ level }) => level === 'fail')) process.exitCode = 1
}

async function examineEnvironment(
  chosen: Record<string, Check>,
  to: string | undefined,
): Promise<Result[]> {
  const notices: string[] = []
  try {
    const collectNotice = (notice: string) => notices.push(notice)
    const { env, dev } = commandEnvironment()
    const config = readConfig(env, { dev, warn: dev ? () => {} : collectNotice })
    const valid = dev ? pass(developmentHint) : pass('Every variable has a valid value.')
    const first = notices.length > 0 ? notices.map(warn) : [valid]
    return [...named('configuration', first), ...(await examineAll(config, chosen, to))]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const lines = error.issues.map(({ variable, problem, hint }) =>
      fail(`${variable} ${problem}; ${hint}.`),
    )
    return named('configuration', [
      ...lines,
      warn('Nothing else was checked, because the configuration is invalid.'),
      ...(lacksDatabase(error) ? [warn(otherDatabaseHint)] : []),
    ])
  }
}

/** Runs the checks for a server with this configuration. */
export async function runDoctorChecks(config: Config) {
  return summarize(await examineAll(config, checks, undefined))
}

async function examineAll(
  config: Config,
  chosen: Record<string, Check>,
  to: string | undefined,
): Promise<Result[]> {
  // These are the operator's own URLs, so the SSRF guard is off, as in development.
  const http = createHttpClient({ dev: true, proxy: configuredProxies(config) })
  const pool = createPool({ connectionString: config.DATABASE_URL, max: 2, log: { warn() {} } })
  const context: DoctorContext = {
    config,
    db: createDb(pool, config.AUTH_DB_NAMESPACE),
    encryption: configuredEncryption(config, { isShared: false }),
    fetch: http.fetch,
    recipient: to,
    now: new Date(),
  }
  try {
    // In parallel: some wait for unavailable servers.
    const entries = Object.entries(chosen)
    const found = entries.map(async ([name, check]) => named(name, await runCheck(check, context)))
    return (await Promise.all(found)).flat()
  } finally {
    await pool.end()
    await http.close()
  }
}

/** An unexpected error becomes a result of its check, and does not affect the others. */
async function runCheck(check: Check, context: DoctorContext): Promise<DoctorFinding[]> {
  try {
    return await check(context)
  } catch (error) {
    const reason = error instanceof Error ? error.message || error.name : String(error)
    return [fail(`The check failed: ${reason}`)]
  }
}

const named = (check: string, findings: DoctorFinding[]): Result[] =>
  findings.map((finding) => ({ check, ...finding }))

function summarize(results: Result[]) {
  const count = (level: DoctorFinding['level']) =>
    results.filter((one) => one.level === level).length
  return { passed: count('pass'), warnings: count('warn'), failed: count('fail'), results }
}

function toText(results: Result[]): string {
  const width = Math.max(...results.map(({ check }) => check.length))
  const lines = results.map(
    ({ level, check, sentence }) => `${level}  ${check.padEnd(width)}  ${sentence}`,
  )
  const { passed, warnings, failed } = summarize(results)
  return [...lines, '', `${passed} passed, ${warnings} warnings, ${failed} failed`].join('\n')
}

/** Checks that the metadata of each identity provider has not expired. */
export async function checkSaml(context: DoctorContext): Promise<DoctorFinding[]> {
  // Before the first start, or when the database is unavailable, which has a separate check.
  const expired = await describeExpiredMetadata(context, context.now).catch(() => [])
  return expired.map(fail)
}
