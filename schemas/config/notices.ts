/** What an operator should know about a configuration that is otherwise right. */
import type { Config } from './config.ts'
import { variables } from './config.ts'
import { genericOidcVariable } from './generic-oidc.ts'
import { type Environment, knownNames } from './names.ts'
import { nearestName } from './nearest-name.ts'
import type { Reading } from './read-variable.ts'

type Readings = ReadonlyMap<string, Reading>
type Warn = (message: string) => void

export function giveNotices(env: Environment, config: Config, readings: Readings, warn: Warn) {
  noticeForeignNames(readings, warn)
  noticeWithoutEffect(readings, warn)
  noticeUnknown(env, warn)
  noticeSettings(config, warn)
}

function noticeForeignNames(readings: Readings, warn: Warn) {
  const names = [...readings].flatMap(([variable, { found }]) =>
    found?.foreign ? [`${found.name} as ${variable}`] : [],
  )
  if (names.length > 0)
    warn(`Some variables are read under another server's names: ${list(names)}.`)
}

/** One sentence each for what is inherited and for what is still to come. */
function noticeWithoutEffect(readings: Readings, warn: Warn) {
  const inherited: string[] = []
  const planned: string[] = []
  for (const [variable, schema] of Object.entries(variables)) {
    const reading = readings.get(variable)
    const name = reading?.found?.name
    if (reading === undefined || name === undefined) continue
    const reason: unknown = schema['x-inert'] ?? schema['x-deprecated']
    if (reason !== undefined) inherited.push(`${name} (${reason})`)
    if (schema['x-planned'] && reading.value === true) planned.push(name)
  }
  if (inherited.length > 0) {
    warn(`Some variables are deprecated and may be removed: ${list(inherited)}.`)
  }
  if (planned.length > 0) warn(`Some variables have no effect yet: ${list(planned)}.`)
}

function noticeUnknown(env: Environment, warn: Warn) {
  for (const name of Object.keys(env)) {
    if (!/^(AUTH|GOTRUE)_/.test(name) || knownNames.has(name)) continue
    if (genericOidcVariable(name) !== undefined) continue
    const nearest = nearestName(name.replace(/^GOTRUE_/, 'AUTH_'), knownNames)
    warn(`${name} is not a known variable${nearest ? `; did you mean ${nearest}?` : '.'}`)
  }
}

function noticeSettings(config: Config, warn: Warn) {
  const { dev } = config
  const sendsSms = config.AUTH_SMS_PROVIDER !== undefined || config.AUTH_HOOK_SEND_SMS_ENABLED
  if (!dev && config.AUTH_SMTP_HOST === undefined) {
    warn('AUTH_SMTP_HOST is not set: whatever must send mail is refused.')
  }
  if (!dev && config.AUTH_EXTERNAL_PHONE_ENABLED && !sendsSms) {
    warn('AUTH_SMS_PROVIDER is not set: whatever must send a text message is refused.')
  }
  if (
    !dev &&
    config.AUTH_RATE_LIMIT_HEADER === undefined &&
    !config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED
  ) {
    warn('AUTH_RATE_LIMIT_HEADER is not set: nothing is limited by client address.')
  }
}

function list(entries: string[]): string {
  return entries.join(', ')
}
