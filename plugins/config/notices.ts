/** What an operator should know about a configuration that is otherwise right. */
import { localeSettingPattern } from '../../mail/locale-settings.ts'
import { type Config, variableEntries } from './config.ts'
import { contradictions } from './contradictions.ts'
import { genericOidcVariable } from './generic-oidc.ts'
import { core } from './groups/core.ts'
import { hookNames } from './groups/hooks.ts'
import { type Environment, isQuoted, knownNames, ownNames } from './names.ts'
import { nearestName } from './nearest-name.ts'
import type { FoundNames } from './read-config.ts'
import { redirectNotices } from './redirect-notices.ts'
import { slipFor } from './slips.ts'
import { telemetryNotices } from './telemetry-notices.ts'

type Warn = (message: string) => void

export function giveNotices(env: Environment, config: Config, found: FoundNames, warn: Warn) {
  noticeForeignNames(found, warn)
  if (!config.dev) noticeTwice(env, found, warn)
  noticeQuoted(found, warn)
  noticeWithoutEffect(config, found, warn)
  noticeUnknown(env, warn)
  noticeSlips(env, found, warn)
  noticeSettings(config, warn)
  const notices = [
    ...contradictions(config),
    ...redirectNotices(config),
    ...telemetryNotices(env, config),
  ]
  for (const notice of notices) warn(notice)
}

function noticeForeignNames(found: FoundNames, warn: Warn) {
  const names = [...found].flatMap(([variable, { name, foreign }]) =>
    foreign ? [`${name} as ${variable}`] : [],
  )
  if (names.length > 0) {
    warn(`Some variables are read under another server's names: ${list(names)}.`)
  }
}

/** Two names of one variable: which of them counts is not what everybody expects. */
function noticeTwice(env: Environment, found: FoundNames, warn: Warn) {
  for (const [variable, schema] of variableEntries) {
    const at = found.get(variable)
    if (!at) continue
    const counted = env[at.name]?.trim()
    const others = ownNames(variable, schema).filter((name) => {
      const text = env[name]?.trim()
      return text && text !== counted
    })
    if (others.length > 0) {
      warn(`${at.name} counts, and ${list(others)} has another value: set one of them.`)
    }
  }
}

function noticeQuoted(found: FoundNames, warn: Warn) {
  const names = [...found.values()].flatMap(({ name, text }) => (isQuoted(text) ? [name] : []))
  if (names.length > 0) {
    warn(`Quotation marks around a value are part of it, as in ${list(names)}: leave them out.`)
  }
}

/** One sentence each for what is inherited and for what is still to come. */
function noticeWithoutEffect(config: Config, found: FoundNames, warn: Warn) {
  const inherited: string[] = []
  const planned: string[] = []
  for (const [variable, schema] of variableEntries) {
    const name = found.get(variable)?.name
    if (name === undefined) continue
    // Who says what is so anyway loses nothing when the variable goes.
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

function noticeUnknown(env: Environment, warn: Warn) {
  for (const name of Object.keys(env)) {
    if (!/^(AUTH|GOTRUE)_/.test(name) || knownNames.has(name)) continue
    const ours = name.replace(/^GOTRUE_/, 'AUTH_')
    if (genericOidcVariable(name) !== undefined || localeSettingPattern.test(ours)) continue
    const nearest = nearestName(ours, knownNames)
    warn(`${name} is not a known variable${nearest ? `; did you mean ${nearest}?` : '.'}`)
  }
}

/** What is not set, while a name that is like it is. */
function noticeSlips(env: Environment, found: FoundNames, warn: Warn) {
  for (const [variable] of variableEntries) {
    if (found.has(variable)) continue
    const slip = slipFor(variable, env)
    // Those with a prefix of ours are unknown variables, and told as such.
    if (slip === undefined || /^(AUTH|GOTRUE)_/.test(slip)) continue
    warn(`${slip} is not read by this server; did you mean ${variable}?`)
  }
}

function noticeSettings(config: Config, warn: Warn) {
  const { dev } = config
  const sendsSms = config.AUTH_SMS_PROVIDER !== undefined || config.AUTH_HOOK_SEND_SMS_ENABLED
  if (!dev && config.AUTH_SMTP_HOST === undefined && !config.AUTH_HOOK_SEND_EMAIL_ENABLED) {
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
  for (const variable of unsignedHooks(config)) {
    warn(`${variable} is not set: the hook cannot tell our requests from anybody else's.`)
  }
  if (!dev && believesNobodyElse(config)) {
    warn(
      'AUTH_TRUSTED_PROXIES is not set: a header with a client address is believed from this machine only.',
    )
  }
}

/** Hooks whose receivers cannot tell our requests from anybody else's. */
function unsignedHooks(config: Config): string[] {
  return hookNames
    .filter((name) => {
      const isHttp = config[`AUTH_HOOK_${name}_URI`]?.startsWith('http')
      return config[`AUTH_HOOK_${name}_ENABLED`] && isHttp
    })
    .map((name) => `AUTH_HOOK_${name}_SECRETS` as const)
    .filter((variable) => config[variable].length === 0)
}

/** A header with client addresses is configured, and nobody who may send it. */
function believesNobodyElse(config: Config): boolean {
  const isHeaderRead =
    config.AUTH_RATE_LIMIT_HEADER !== undefined || config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED
  const preset: string[] = core.AUTH_TRUSTED_PROXIES.default
  return isHeaderRead && config.AUTH_TRUSTED_PROXIES.join() === preset.join()
}

function list(entries: string[]): string {
  return entries.join(', ')
}
