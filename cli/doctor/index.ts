/** `npm run doctor`: checks a deployment and names what to correct. Read-only. */
import { parseArgs } from 'node:util'

import { ConfigError } from '../../config/core/config-error.ts'
import type { Config } from '../../config/groups/index.ts'
import { readConfig } from '../../config/read-config.ts'
import { createDb } from '../../db/core/database.ts'
import { createPool } from '../../plugins/database/pool/index.ts'
import { configuredProxies, createHttpClient } from '../../plugins/outgoing/http-client/index.ts'
import { configuredEncryption } from '../../plugins/security/encryption/index.ts'
import { commandEnvironment, lacksDatabase } from '../shared/context.ts'
import { checkAddresses, checkExternalUrl, checkProxies } from './addresses.ts'
import { checkDatabase, checkHooks, checkReplicas } from './database.ts'
import { type Check, type DoctorContext, type DoctorFinding, fail, pass, warn } from './finding.ts'
import { checkKeys } from './keys.ts'
import { checkMail, checkMailDomain, checkTemplates } from './mail.ts'
import {
  checkCaptcha,
  checkDisk,
  checkProviders,
  checkRedis,
  checkSaml,
  checkSms,
} from './services.ts'
import { upgradeChecks } from './upgrade.ts'

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
