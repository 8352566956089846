/** Notices about a valid configuration. */
import { localeSettingPattern } from '../mail/locale-settings.ts'
import { nearestName } from '../schemas/values/nearest-name.ts'
import { crossFieldIssues } from './cross-field.ts'
import { core } from './groups/core.ts'
import { genericOidcVariable } from './groups/external-providers.ts'
import { hookNames } from './groups/hooks.ts'
import { type Config, variableEntries } from './groups/index.ts'
import {
  type Environment,
  type FoundNames,
  isQuoted,
  knownNames,
  projectVariables,
} from './names.ts'
import { redirectNotices } from './rules/redirect-notices.ts'
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

/** A sentence for each name with one of our prefixes that the server does not read. */
export function listUnknownNames(env: Environment): string[] {
  return Object.keys(env).flatMap((name) => {
    if (!/^(AUTH|GOTRUE)_/.test(name) || knownNames.has(name)) return []
    const ours = name.replace(/^GOTRUE_/, 'AUTH_')
    if (genericOidcVariable(name) !== undefined || localeSettingPattern.test(ours)) return []
    const reason = whyWithoutEffect(name)
    if (reason !== undefined) return [`${name} has no effect here because ${reason}.`]
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

/** Warns of metrics that are neither pushed to a collector nor scraped. */
function telemetryNotices(env: Environment, config: Config): string[] {
  const isPushed = config.AUTH_METRICS_ENABLED && config.AUTH_METRICS_EXPORTER === 'opentelemetry'
  // The SDK reads the second one itself.
  const collector = config.OTEL_EXPORTER_OTLP_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT
  if (!isPushed || collector) return []
  return [
    'AUTH_METRICS_ENABLED pushes metrics to a collector on this machine, because OTEL_EXPORTER_OTLP_ENDPOINT is not set: set it, or AUTH_METRICS_EXPORTER=prometheus to serve them on OTEL_EXPORTER_PROMETHEUS_PORT.',
  ]
}

/** pg used to verify what libpq does not: the operator may expect verification. */
function databaseNotices({ DATABASE_URL }: Config): string[] {
  const { searchParams } = new URL(DATABASE_URL)
  const mode = searchParams.get('sslmode') ?? ''
  const notices: string[] = []
  if (['allow', 'prefer'].includes(mode)) {
    notices.push(
      `DATABASE_URL has sslmode=${mode}: as in libpq, the connection may be unencrypted and the server is not verified; sslmode=verify-full encrypts and verifies.`,
    )
  }
  if (mode === 'require' && !searchParams.get('sslrootcert')) {
    notices.push(
      'DATABASE_URL has sslmode=require: as in libpq, the connection is encrypted but the server is not verified; sslmode=verify-full verifies it.',
    )
  }
  return notices
}

// Warns of email links to a page that this server does not have.

const kinds = ['INVITE', 'CONFIRMATION', 'RECOVERY', 'EMAIL_CHANGE'] as const

/** One sentence per link. When the site shares our host, the page may be the site's. */
function linkPathNotices(config: Config): string[] {
  const own = new URL(config.AUTH_API_EXTERNAL_URL)
  if (URL.parse(config.AUTH_SITE_URL)?.origin === own.origin) return []
  const bases = ['', config.AUTH_API_PREFIX, own.pathname].map((path) => path.replace(/\/$/, ''))
  const pages = bases.map((base) => `${base}/verify`)
  return kinds.flatMap((kind) => {
    const variable = `AUTH_MAILER_URLPATHS_${kind}` as const
    const page = URL.parse(config[variable], own.href)
    const isServed = page === null || page.origin !== own.origin || pages.includes(page.pathname)
    if (isServed) return []
    return [
      `${variable} is ${config[variable]}: this server has no page at ${page.origin}${page.pathname}, which these emails link to. Remove the variable, or set the full URL of a page on your site.`,
    ]
  })
}

// Variables of GoTrue that this server does not read, with the reason. The start names them when they are set.

/** A pattern of names after the prefix, and the rest of a sentence that begins with "has no effect here because". */
const reasons: readonly (readonly [names: RegExp, reason: string])[] = [
  [/^DB_ADVISOR_/, 'the pool reports waiting requests by its metrics'],
  [/^DB_CONN_PERCENTAGE$/, 'AUTH_DB_MAX_POOL_SIZE limits the connections'],
  [/^DB_HEALTH_CHECK_PERIOD$/, 'broken connections are replaced when they are used'],
  [/^DB_MIGRATIONS_PATH$/, 'the migrations are part of the server'],
  [/^INDEX_WORKER_/, 'AUTH_DB_INDEX_USER_NAMES controls the indexes for searching users'],
  [/^HOOK_\w+_HOOKNAME$/, 'the name of a function is in the URI of its hook'],
  [/^LOG_(DISABLE_COLORS|QUOTE_EMPTY_FIELDS|TSFORMAT|FIELDS)$/, 'logs are lines of JSON'],
  [/^LOG_SQL$/, 'statements are not logged: they contain personal data'],
  [/^MAILER_EMAIL_BACKGROUND_SENDING$/, 'every email is sent after the response'],
  [/^MAILER_TEMPLATE_RELOADING_MAX_IDLE$/, 'templates are reloaded when an email needs them'],
  [/^MAILER_URLPATHS_\w+_NOTIFICATION$/, 'notifications have no link'],
  [/^MAILER_URLPATHS_REAUTHENTICATION$/, 'this email has a code and no link'],
  [/^MAILER_URLPATHS_MAGIC_LINK$/, 'magic links use AUTH_MAILER_URLPATHS_RECOVERY, as in GoTrue'],
  [/^PASSWORD_HIBP_BLOOM_/, 'results are not cached'],
  [/^PASSWORD_HIBP_USER_AGENT$/, 'requests name this server'],
  [/^PROFILER_/, 'Node.js has profilers of its own (--cpu-prof, --inspect)'],
  [/^RELOADING_/, 'the environment is read at the start only'],
  [/^SMTP_LOGGING_ENABLED$/, 'every delivery is logged'],
  [/^TRACING_(HOST|PORT)$/, 'OTEL_EXPORTER_OTLP_ENDPOINT is the address of the collector'],
  [/_OTEL_EXPORTER_OTLP_PROTOCOL$/, 'OTEL_EXPORTER_OTLP_PROTOCOL is read'],
  [/^TRACING_TAGS$/, 'OTEL_RESOURCE_ATTRIBUTES has the attributes of all spans'],
  [/^COOKIE_(KEY|DOMAIN|DURATION)$/, 'GoTrue itself sets no cookies any more'],
  [/^INTERNAL_HTTP_TIMEOUT$/, 'requests to providers have limits of their own'],
]

/** Why GoTrue's variable has no effect; undefined for any other name. */
export function whyWithoutEffect(name: string): string | undefined {
  const [, prefixed] = /^GOTRUE_(\w+)$/.exec(name) ?? []
  if (prefixed === undefined) return undefined
  return reasons.find(([names]) => names.test(prefixed))?.[1]
}
