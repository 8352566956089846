import { parseArgs } from 'node:util'

import { catalogue } from './catalogue.ts'
import { type EnumerationCase, enumerationCases } from './enumeration/cases.ts'

export const usage = `npm run bench -- [scenario ...] [options]

Without --url, starts a Postgres and this server and measures it; with --database-url,
creates a separate database in that Postgres.

  --url URL             the server to measure
  --against URL         a second server, measured alternately with the first
  --telemetry           without --url: also this server with traces and metrics on
  --hooks               without --url: also this server with a custom access token hook
                        as a database function, and as an HTTP endpoint
  --organizations       without --url: also this server with organizations on; compare them with
                        the scenarios organizations-...
  --features            without --url: also a server with every feature off, one for each feature
                        and one with all; for their memory at rest: idle --features
  --beside FOLDER       without --url: also the server of another checkout of this repository
  --replicas N,M        without --url: also N and M of this server behind HAProxy, each without
                        and with PgBouncer
  --pools N,M           without --url: also this server with a pool of N and of M connections
  --set NAME=VALUE      without --url: one more variable for the servers; may be repeated
  --no-floor            without the baseline, a minimal server
  --seconds N           measured time per scenario and server (5)
  --rounds N            number of rounds that time is split into (3)
  --connections N       concurrent requests (16)
  --scenario A,B        only these: ${catalogue.map(({ name }) => name).join(', ')},
                        idle (processor time of a minute without requests),
                        or enumeration (do time or text reveal known addresses?)
  --stock N             single-use links and addresses for recover and verify (1500)
  --pairs N             for enumeration: users of each kind, and as many unknown addresses (200)
  --question A,B        for enumeration: only these: ${enumerationCases.map(({ name }) => name).join(', ')}
  --service-role TOKEN  a token for the admin endpoints, or
  --jwt-secret SECRET   the secret to create one with (HS256)
  --database-url URL    the database of both; finds the Postgres process, confirms addresses
                        when there is no token
  --server-pid PID      processes to measure, when they are not found through
  --against-pid PID     their ports
  --postgres-pid PID
  --json FILE           also writes the results to this file
  --help`

export type Options = ReturnType<typeof readOptions>

/** Parses the command line; throws a TypeError with one sentence for invalid arguments. */
export function readOptions(args: string[]) {
  const { values, positionals } = parseArgs({ ...syntax, args, options: known })
  const names = [...positionals, ...(values.scenario ?? []).flatMap((list) => list.split(','))]
  return {
    help: values.help ?? false,
    url: values.url,
    against: values.against,
    telemetry: values.telemetry ?? false,
    hooks: values.hooks ?? false,
    organizations: values.organizations ?? false,
    features: values.features ?? false,
    beside: values.beside,
    replicas: numbers('replicas', values.replicas),
    pools: numbers('pools', values.pools),
    env: readSettings(values.set ?? []),
    floor: values.floor,
    serviceRole: values['service-role'],
    jwtSecret: values['jwt-secret'],
    databaseUrl: values['database-url'],
    json: values.json,
    seconds: positive('seconds', values.seconds),
    rounds: positive('rounds', values.rounds),
    connections: positive('connections', values.connections),
    stock: positive('stock', values.stock),
    pairs: positive('pairs', values.pairs),
    questions: chooseCases(values.question ?? []),
    serverPid: optional('server-pid', values['server-pid']),
    againstPid: optional('against-pid', values['against-pid']),
    postgresPid: optional('postgres-pid', values['postgres-pid']),
    idle: names.length === 0 || names.includes('idle'),
    enumeration: names.includes('enumeration'),
    scenarios: choose(names),
  }
}

const known = {
  url: { type: 'string' },
  against: { type: 'string' },
  telemetry: { type: 'boolean' },
  hooks: { type: 'boolean' },
  organizations: { type: 'boolean' },
  features: { type: 'boolean' },
  beside: { type: 'string' },
  replicas: { type: 'string' },
  pools: { type: 'string' },
  set: { type: 'string', multiple: true },
  floor: { type: 'boolean', default: true },
  seconds: { type: 'string', default: '5' },
  rounds: { type: 'string', default: '3' },
  connections: { type: 'string', default: '16' },
  scenario: { type: 'string', multiple: true },
  stock: { type: 'string', default: '1500' },
  pairs: { type: 'string', default: '200' },
  question: { type: 'string', multiple: true },
  'service-role': { type: 'string' },
  'jwt-secret': { type: 'string' },
  'database-url': { type: 'string' },
  'server-pid': { type: 'string' },
  'against-pid': { type: 'string' },
  'postgres-pid': { type: 'string' },
  json: { type: 'string' },
  help: { type: 'boolean' },
} as const

const syntax = { allowPositionals: true, allowNegative: true } as const

/** The named scenarios in the catalogue's order; all of them when nothing is named. */
function choose(names: string[]) {
  const all = new Set([...catalogue.map(({ name }) => name), 'idle', 'enumeration'])
  const unknown = names.find((name) => !all.has(name))
  if (unknown !== undefined) {
    throw new TypeError(`Unknown scenario ${unknown}; known are ${[...all].join(', ')}`)
  }
  return catalogue.filter(({ name, isOptional }) =>
    names.length === 0 ? !isOptional : names.includes(name),
  )
}

function chooseCases(lists: string[]): EnumerationCase[] {
  const names = lists.flatMap((list) => list.split(','))
  const known = enumerationCases.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new TypeError(`Unknown question ${unknown}; known are ${known.join(', ')}`)
  }
  return names.length === 0
    ? enumerationCases
    : enumerationCases.filter(({ name }) => names.includes(name))
}

function readSettings(settings: string[]): Record<string, string> {
  return Object.fromEntries(
    settings.map((setting) => {
      const [, name, value] = /^(\w+)=(.*)$/s.exec(setting) ?? []
      if (name === undefined || value === undefined) {
        throw new TypeError(`--set takes NAME=VALUE, not ${setting}`)
      }
      return [name, value]
    }),
  )
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0)) throw new TypeError(`--${name} must be a number above 0, not ${text}`)
  return value
}

function optional(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : positive(name, text)
}

function numbers(name: string, list: string | undefined): number[] {
  return list === undefined ? [] : list.split(',').map((text) => positive(name, text))
}
