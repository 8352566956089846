/** Addresses, hosts and ports that are right by themselves and do harm together, or where they stand. */
import type { Config } from '../config.ts'
import type { Mistake } from '../mistake.ts'

export function addressesRule(config: Config): Mistake[] {
  return [...mailHostMistakes(config), ...metricsPortMistakes(config), ...allowListMistakes(config)]
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
