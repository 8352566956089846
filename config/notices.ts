/** Notices about a valid configuration. */
import { localeSettingPattern } from '../mail/locale-settings.ts'
import { nearestName } from './core/nearest-name.ts'
import { crossFieldIssues } from './cross-field.ts'
import { databaseNotices } from './database-notices.ts'
import type { FoundNames } from './found-names.ts'
import { core } from './groups/core.ts'
import { genericOidcVariable } from './groups/generic-oidc.ts'
import { hookNames } from './groups/hooks.ts'
import { type Config, variableEntries } from './groups/index.ts'
import { linkPathNotices } from './link-path-notices.ts'
import { type Environment, isQuoted, knownNames, projectVariables } from './names.ts'
import { redirectNotices } from './rules/redirect-notices.ts'
import { telemetryNotices } from './telemetry-notices.ts'
import { typoSuggestion } from './typos.ts'

type Warn = (message: string) => void

export function emitNotices(env: Environment, config: Config, found: FoundNames, warn: Warn) {
  noticeForeignNames(found, warn)
  if (!config.dev) noticeTwice(env, found, warn)
  noticeQuoted(found, warn)
  noticeWithoutEffect(config, found, warn)
  for (const notice of listUnknownNames(env)) warn(notice)
  noticeTypos(env, found, warn)
  noticeSettings(config, warn)
  const notices = [
    ...crossFieldIssues(config),
    ...databaseNotices(config),
    ...redirectNotices(config),
    ...linkPathNotices(config),
    ...telemetryNotices(env, config),
  ]
  for (const notice of notices) warn(notice)
}

function noticeForeignNames(found: FoundNames, warn: Warn) {
  const names = [...found].flatMap(([variable, { name, foreign }]) =>
    foreign ? [`${name} as ${variable}`] : [],
  )
  if (names.length > 0) {
    warn(`Some variables are read under GoTrue's names: ${list(names)}.`)
  }
}

/** Warns when two names of one variable have different values. */
function noticeTwice(env: Environment, found: FoundNames, warn: Warn) {
  for (const [variable, schema] of variableEntries) {
    const at = found.get(variable)
    if (!at) continue
    const counted = env[at.name]?.trim()
    const others = projectVariables(variable, schema).filter((name) => {
      const text = env[name]?.trim()
      return text && text !== counted
    })
    if (others.length > 0) {
      warn(`${at.name} is used, but ${list(others)} has another value: set only one of them.`)
    }
  }
}

function noticeQuoted(found: FoundNames, warn: Warn) {
  const names = [...found.values()].flatMap(({ name, text }) => (isQuoted(text) ? [name] : []))
  if (names.length > 0) {
    warn(`Quotation marks are part of the value of ${list(names)}: remove them.`)
  }
}

/** One sentence for deprecated variables and one for planned ones. */
function noticeWithoutEffect(config: Config, found: FoundNames, warn: Warn) {
  const inherited: string[] = []
  const planned: string[] = []
  for (const [variable, schema] of variableEntries) {
    const name = found.get(variable)?.name
    if (name === undefined) continue
    // Setting the default explicitly does not change when the variable is removed.
    const isDefault = schema.default !== undefined && config[variable] === schema.default
    const deprecated: unknown = isDefault ? undefined : schema['x-deprecated']
    const reason: unknown = schema['x-inert'] ?? deprecated
    if (reason !== undefined) inherited.push(`${name} (${reason})`)
    if (schema['x-planned'] && config[variable] === true) planned.push(name)
  }
  if (inherited.length > 0) {
    warn(`Some variables are deprecated and may be removed: ${list(inherited)}.`)
  }
  if (planned.length > 0) warn(`Some variables have no effect yet: ${list(planned)}.`)
}

/** A sentence for each name with one of our prefixes that the server does not know. */
export function listUnknownNames(env: Environment): string[] {
  return Object.keys(env).flatMap((name) => {
    if (!/^(AUTH|GOTRUE)_/.test(name) || knownNames.has(name)) return []
    const ours = name.replace(/^GOTRUE_/, 'AUTH_')
    if (genericOidcVariable(name) !== undefined || localeSettingPattern.test(ours)) return []
    const nearest = nearestName(ours, knownNames)
    return [`${name} is not a known variable${nearest ? `; did you mean ${nearest}?` : '.'}`]
  })
}

/** Warns of similar names when a variable is not set. */
function noticeTypos(env: Environment, found: FoundNames, warn: Warn) {
  for (const [variable] of variableEntries) {
    if (found.has(variable)) continue
    const typo = typoSuggestion(variable, env)
    // Names with one of our prefixes are reported as unknown variables.
    if (typo === undefined || /^(AUTH|GOTRUE)_/.test(typo)) continue
    warn(`${typo} is not read by this server; did you mean ${variable}?`)
  }
}

const noEncryptionKey =
  'AUTH_ENCRYPTION_KEY is not set: secrets in the database are encrypted with a key derived from AUTH_JWT_SECRET, which therefore cannot be changed alone. `npm run keys -- encryption rotate` sets AUTH_ENCRYPTION_KEY (docs/operations.md).'

function noticeSettings(config: Config, warn: Warn) {
  const { dev } = config
  if (!dev && config.AUTH_ENCRYPTION_KEY === undefined) warn(noEncryptionKey)
  const sendsSms = config.AUTH_SMS_PROVIDER !== undefined || config.AUTH_HOOK_SEND_SMS_ENABLED
  if (!dev && config.AUTH_SMTP_HOST === undefined && !config.AUTH_HOOK_SEND_EMAIL_ENABLED) {
    warn('AUTH_SMTP_HOST is not set: requests that must send an email are rejected.')
  }
  if (!dev && config.AUTH_EXTERNAL_PHONE_ENABLED && !sendsSms) {
    warn('AUTH_SMS_PROVIDER is not set: requests that must send an SMS are rejected.')
  }
  if (
    !dev &&
    config.AUTH_RATE_LIMIT_HEADER === undefined &&
    !config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED
  ) {
    warn('AUTH_RATE_LIMIT_HEADER is not set: there are no limits by client address.')
  }
  for (const variable of unsignedHooks(config)) {
    warn(`${variable} is not set: the hook cannot authenticate our requests.`)
  }
  if (!dev && trustsNoOtherProxy(config)) {
    warn(
      'AUTH_TRUSTED_PROXIES is not set: headers with a client address are trusted from this machine only.',
    )
  }
}

/** Hooks whose receivers cannot authenticate our requests. */
function unsignedHooks(config: Config): string[] {
  return hookNames
    .filter((name) => {
      const isHttp = config[`AUTH_HOOK_${name}_URI`]?.startsWith('http')
      return config[`AUTH_HOOK_${name}_ENABLED`] && isHttp
    })
    .map((name) => `AUTH_HOOK_${name}_SECRETS` as const)
    .filter((variable) => config[variable].length === 0)
}

/** A header with client addresses is configured, but no proxy may send it. */
function trustsNoOtherProxy(config: Config): boolean {
  const isHeaderRead =
    config.AUTH_RATE_LIMIT_HEADER !== undefined || config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED
  const preset: string[] = core.AUTH_TRUSTED_PROXIES.default
  return isHeaderRead && config.AUTH_TRUSTED_PROXIES.join() === preset.join()
}

function list(entries: string[]): string {
  return entries.join(', ')
}
