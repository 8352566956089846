/** Addresses, hosts and ports that are right by themselves and do harm together, or where they stand. */
import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'

export function addressesRule(config: Config): Mistake[] {
  return [
    ...prefixMistakes(config),
    ...mailHostMistakes(config),
    ...metricsPortMistakes(config),
    ...allowListMistakes(config),
  ]
}

/** What paths of this server begin with. */
const firstParts = [
  ...['.well-known', 'admin', 'authorize', 'callback', 'dev', 'docs', 'factors', 'health'],
  ...['invite', 'logout', 'magiclink', 'oauth', 'openapi.json', 'otp', 'passkeys', 'ready'],
  ...['reauthenticate', 'recover', 'resend', 'scim', 'sessions', 'settings', 'signup', 'sso'],
  ...['token', 'user', 'verify'],
]

/** Below such a prefix, what is taken off a path is a part of the path itself. */
function prefixMistakes({ AUTH_API_PREFIX: prefix }: Config): Mistake[] {
  const [, first = ''] = prefix.split('/')
  if (!firstParts.includes(first)) return []
  const problem = `is "${prefix}", and paths of this server begin with /${first}`
  const remedy = 'it must be a path of its own, such as /auth/v1, or / for none'
  return [{ variable: 'AUTH_API_PREFIX', problem, remedy }]
}

function mailHostMistakes({ AUTH_SMTP_HOST: host }: Config): Mistake[] {
  if (host === undefined || !/[/@\s]|^[^[]*:\d+$/.test(host)) return []
  const remedy = 'it must be a host name alone; the port stands in AUTH_SMTP_PORT'
  return [{ variable: 'AUTH_SMTP_HOST', problem: `is "${withoutPassword(host)}"`, remedy }]
}

function withoutPassword(host: string): string {
  return host.replace(/\/\/.*@/, '//...@')
}

/** Each worker has a metrics port of its own, one after another. */
function metricsPortMistakes(config: Config): Mistake[] {
  const { PORT, OTEL_EXPORTER_PROMETHEUS_PORT: first, AUTH_WORKERS } = config
  const isServed = config.AUTH_METRICS_ENABLED && config.AUTH_METRICS_EXPORTER === 'prometheus'
  if (!isServed || PORT === 0 || PORT < first || PORT >= first + AUTH_WORKERS) return []
  const problem = 'leads to PORT, which the API has'
  const remedy = `it must leave ${PORT} free, with a port for each of AUTH_WORKERS`
  return [{ variable: 'OTEL_EXPORTER_PROMETHEUS_PORT', problem, remedy }]
}

/** Stars in the place of a site's host; the addresses of an app begin with a scheme of its own. */
const everywhere = /^(?:(?:https?\*?|\*+):\/\/)?\*+(?::[\d*]+)?(?:\/.*)?$/i

/** Links in mail would bring sessions to whichever site asked for them. */
function allowListMistakes({ dev, AUTH_URI_ALLOW_LIST: list }: Config): Mistake[] {
  if (dev) return []
  const variable = 'AUTH_URI_ALLOW_LIST'
  const remedy = 'it must name your own hosts, as in https://*.example.com/**'
  const inGotrue = 'whoever has a link sent may have the session brought to any site'
  return list
    .filter((entry) => everywhere.test(entry))
    .map((entry) => ({ variable, problem: `allows every site by ${entry}`, remedy, inGotrue }))
}
