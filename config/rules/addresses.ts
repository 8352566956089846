/** URLs, hosts and ports that conflict with each other or are unsafe. */
import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'

export function addressesRule(config: Config): ConfigIssue[] {
  return [
    ...prefixIssues(config),
    ...mailHostIssues(config),
    ...metricsPortIssues(config),
    ...externalUrlIssues(config),
    ...consentPathIssues(config),
    ...allowListIssues(config),
    ...unmatchableIssues(config),
  ]
}

/** The first path segments of this server. */
const firstParts = [
  '.well-known',
  'admin',
  'authorize',
  'callback',
  'dev',
  'docs',
  'factors',
  'health',
  'invite',
  'logout',
  'magiclink',
  'oauth',
  'openapi.json',
  'otp',
  'passkeys',
  'ready',
  'reauthenticate',
  'recover',
  'resend',
  'scim',
  'sessions',
  'settings',
  'signup',
  'sso',
  'organizations',
  'providers',
  'token',
  'user',
  'verify',
]

/** Such a prefix is also the beginning of a path, so that removing it would be ambiguous. */
function prefixIssues({ AUTH_API_PREFIX: prefix }: Config): ConfigIssue[] {
  const [, first = ''] = prefix.split('/')
  if (!firstParts.includes(first)) return []
  const problem = `is "${prefix}", but paths of this server begin with /${first}`
  const hint = 'it must be another path, such as /auth/v1, or / for none'
  return [{ variable: 'AUTH_API_PREFIX', problem, hint }]
}

function mailHostIssues({ AUTH_SMTP_HOST: host }: Config): ConfigIssue[] {
  if (host === undefined || !/[/@\s]|^[^[]*:\d+$/.test(host)) return []
  const hint = 'it must be a host name only; the port is set by AUTH_SMTP_PORT'
  return [{ variable: 'AUTH_SMTP_HOST', problem: `is "${withoutPassword(host)}"`, hint }]
}

function withoutPassword(host: string): string {
  return host.replace(/\/\/.*@/, '//...@')
}

/** Each worker has its own metrics port, numbered consecutively. */
function metricsPortIssues(config: Config): ConfigIssue[] {
  const { PORT, OTEL_EXPORTER_PROMETHEUS_PORT: first, AUTH_WORKERS } = config
  const isServed = config.AUTH_METRICS_ENABLED && config.AUTH_METRICS_EXPORTER === 'prometheus'
  if (!isServed || PORT === 0 || PORT < first || PORT >= first + AUTH_WORKERS) return []
  const problem = 'includes PORT, which the API uses'
  const hint = `the range of one port per worker (AUTH_WORKERS) must not include ${PORT}`
  return [{ variable: 'OTEL_EXPORTER_PROMETHEUS_PORT', problem, hint }]
}

/** Paths are appended to this address. */
function externalUrlIssues({ AUTH_API_EXTERNAL_URL: address }: Config): ConfigIssue[] {
  if (!/[?#@]/.test(address)) return []
  const problem = 'has a query, a fragment or a login'
  const hint = 'it must end with its host, port or path, as in https://auth.example.com'
  return [{ variable: 'AUTH_API_EXTERNAL_URL', problem, hint }]
}

function consentPathIssues(config: Config): ConfigIssue[] {
  const variable = 'AUTH_OAUTH_SERVER_AUTHORIZATION_PATH'
  const path = config[variable] ?? ''
  if (!/^[a-z]+:/i.test(path)) return []
  const hint = 'it must be a path under AUTH_SITE_URL, such as /oauth/consent'
  return [{ variable, problem: `is "${path}"`, hint }]
}

/** A wildcard in place of a site's host. Custom schemes of apps are allowed. */
const anyOrigin = /^(?:(?:https?\*?|\*+):\/\/)?\*+(?::[\d*]+)?(?:\/.*)?$/i

/** Email links would send sessions to any site that requested them. */
function allowListIssues({ dev, AUTH_URI_ALLOW_LIST: list }: Config): ConfigIssue[] {
  if (dev) return []
  const variable = 'AUTH_URI_ALLOW_LIST'
  const hint = 'it must list your own hosts, as in https://*.example.com/**'
  const inGotrue = 'otherwise links can redirect sessions to any site'
  return list
    .filter((entry) => anyOrigin.test(entry))
    .map((entry) => ({ variable, problem: `allows every site with ${entry}`, hint, inGotrue }))
}

/** Entries without a scheme, or with characters that no URL contains, such as those of a list in another format. */
function unmatchableIssues({ AUTH_URI_ALLOW_LIST: list }: Config): ConfigIssue[] {
  const variable = 'AUTH_URI_ALLOW_LIST'
  const hint = 'it must list URLs such as https://*.example.com/**, separated by commas'
  const inGotrue = 'the entry has no effect'
  return list
    .filter((entry) => /[\s"']/.test(entry) || !/:|^\*+$/.test(entry))
    .map((entry) => ({ variable, problem: `has "${entry}", which matches no URL`, hint, inGotrue }))
}
