/** `npm run doctor`: holds a deployment against its surroundings, and says what is to be done. Reads only. */
import { parseArgs } from 'node:util'

import { createDb } from '../db/database.ts'
import type { Config } from '../plugins/config/config.ts'
import { withDotEnv } from '../plugins/config/dot-env.ts'
import { ConfigError } from '../plugins/config/mistake.ts'
import { readConfig } from '../plugins/config/read-config.ts'
import { configuredEncryption } from '../plugins/encryption.ts'
import { configuredProxies, createHttpClient } from '../plugins/http-client.ts'
import { createPool } from '../plugins/pool.ts'
import { lacksDatabase } from './context.ts'
import { addresses } from './doctor/addresses.ts'
import { captcha } from './doctor/captcha.ts'
import { database } from './doctor/database.ts'
import { disk } from './doctor/disk.ts'
import { type Check, type Finding, fail, pass, type Surroundings, warn } from './doctor/finding.ts'
import { keys } from './doctor/keys.ts'
import { mail } from './doctor/mail.ts'
import { mailDomain } from './doctor/mail-domain.ts'
import { outside } from './doctor/outside.ts'
import { providers } from './doctor/providers.ts'
import { proxies } from './doctor/proxies.ts'
import { redis } from './doctor/redis.ts'
import { sms } from './doctor/sms.ts'

export const usage = `npm run doctor                       checks the configuration and what is around this server
npm run doctor -- --json             the same as JSON, for programs
npm run doctor -- --to ADDRESS       asks the mail server whether it takes mail for this address; sends none`

/** In the order in which they are told. */
const checks: Record<string, Check> = {
  addresses,
  proxies,
  database,
  keys,
  mail,
  'mail domain': mailDomain,
  sms,
  captcha,
  providers,
  outside,
  redis,
  disk,
}

const whereElse =
  'This looks at a deployment, not at npm run dev. With docker compose the container has its variables: docker compose exec postern node cli.ts doctor.'

interface Result extends Finding {
  check: string
}

/** The command. Its exit code is 1 when something failed; warnings leave it at 0. */
export async function run(args: readonly string[]): Promise<void> {
  const options = { json: { type: 'boolean' }, to: { type: 'string' } } as const
  const { json = false, to } = parseArgs({ args: [...args], options }).values
  if (to !== undefined && !/^[^\s<>@]+@[^\s<>@]+$/.test(to)) throw new Error(`${to} is no address`)
  const results = await examine(to)
  console.log(json ? JSON.stringify(summaryOf(results), null, 2) : toText(results))
  if (results.some(({ level }) => level === 'fail')) process.exitCode = 1
}

async function examine(to: string | undefined): Promise<Result[]> {
  const notices: string[] = []
  try {
    const warnOf = (notice: string) => notices.push(notice)
    const config = readConfig(withDotEnv(process.env), { dev: false, warn: warnOf })
    const configured = notices.map(warn)
    const first = configured.length > 0 ? configured : [pass('Every variable has a right value.')]
    return [...named('configuration', first), ...(await examineAll(config, to))]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const mistakes = error.mistakes.map(({ variable, problem, remedy }) =>
      fail(`${variable} ${problem}; ${remedy}.`),
    )
    return named('configuration', [
      ...mistakes,
      warn('Nothing else was checked: it waits for a right configuration.'),
      ...(lacksDatabase(error) ? [warn(whereElse)] : []),
    ])
  }
}

async function examineAll(config: Config, to: string | undefined): Promise<Result[]> {
  // What is asked here are the operator's own addresses, so nothing goes through the guard that `dev` is about.
  const http = createHttpClient({ dev: true, proxy: configuredProxies(config) })
  const pool = createPool({ connectionString: config.DATABASE_URL, max: 2, log: { warn() {} } })
  const surroundings: Surroundings = {
    config,
    db: createDb(pool, config.AUTH_DB_NAMESPACE),
    encryption: configuredEncryption(config, { isShared: false }),
    fetch: http.fetch,
    recipient: to,
    now: new Date(),
  }
  try {
    // Some wait for servers that do not answer, so all wait together.
    const entries = Object.entries(checks)
    const found = entries.map(async ([name, check]) =>
      named(name, await heard(check, surroundings)),
    )
    return (await Promise.all(found)).flat()
  } finally {
    await pool.end()
    await http.close()
  }
}

/** What a check did not expect is a finding as well: the others are told all the same. */
async function heard(check: Check, surroundings: Surroundings): Promise<Finding[]> {
  try {
    return await check(surroundings)
  } catch (error) {
    const reason = error instanceof Error ? error.message || error.name : String(error)
    return [fail(`This could not be checked: ${reason}`)]
  }
}

const named = (check: string, findings: Finding[]): Result[] =>
  findings.map((finding) => ({ check, ...finding }))

function summaryOf(results: Result[]) {
  const count = (level: Finding['level']) => results.filter((one) => one.level === level).length
  return { passed: count('pass'), warnings: count('warn'), failed: count('fail'), results }
}

function toText(results: Result[]): string {
  const width = Math.max(...results.map(({ check }) => check.length))
  const lines = results.map(
    ({ level, check, sentence }) => `${level}  ${check.padEnd(width)}  ${sentence}`,
  )
  const { passed, warnings, failed } = summaryOf(results)
  return [...lines, '', `${passed} right, ${warnings} to look at, ${failed} wrong`].join('\n')
}
