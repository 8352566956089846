import { parseArgs } from 'node:util'

import { catalogue } from './catalogue.ts'
import { type Question, questions } from './enumeration/questions.ts'

export const usage = `npm run bench -- [scenario ...] [options]

Without --url, starts a Postgres and this server by itself and measures that.

  --url URL             the server to measure
  --against URL         a second server, measured by turns with the first
  --telemetry           without --url: also this server with traces and metrics on
  --hooks               without --url: also this server with a hook for the claims of access tokens
                        that is a database function, and with one over HTTP
  --beside FOLDER       without --url: also the server of another checkout of this repository
  --replicas N          without --url: also N of this server behind HAProxy and PgBouncer
  --set NAME=VALUE      without --url: one more variable for the servers; may be repeated
  --no-floor            do without the floor, the least that a request could cost
  --seconds N           measured time per scenario and side (5)
  --rounds N            number of turns that time is split into (3)
  --connections N       requests under way at a time (16)
  --scenario A,B        only these: ${catalogue.map(({ name }) => name).join(', ')},
                        or enumeration (does time or text tell known addresses apart?)
  --stock N             single-use links and addresses made for recover and verify (1500)
  --pairs N             for enumeration: people of each kind, and as many strangers (200)
  --question A,B        of enumeration only these: ${questions.map(({ name }) => name).join(', ')}
  --service-role TOKEN  a token for the admin endpoints, or
  --jwt-secret SECRET   the secret to make one with (HS256)
  --database-url URL    the database of both; finds the Postgres process, confirms addresses
                        when there is no token
  --server-pid PID      processes to read the cost from, when they are not found through
  --against-pid PID     their ports
  --postgres-pid PID
  --json FILE           also write the figures there
  --help`

export type Options = ReturnType<typeof readOptions>

/** Parses the command line; throws a TypeError with one sentence for what it cannot take. */
export function readOptions(args: string[]) {
  const { values, positionals } = parseArgs({ ...syntax, args, options: known })
  const names = [...positionals, ...(values.scenario ?? []).flatMap((list) => list.split(','))]
  return {
    help: values.help ?? false,
    url: values.url,
    against: values.against,
    telemetry: values.telemetry ?? false,
    hooks: values.hooks ?? false,
    beside: values.beside,
    replicas: optional('replicas', values.replicas),
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
    questions: chooseQuestions(values.question ?? []),
    serverPid: optional('server-pid', values['server-pid']),
    againstPid: optional('against-pid', values['against-pid']),
    postgresPid: optional('postgres-pid', values['postgres-pid']),
    enumeration: names.includes('enumeration'),
    scenarios: choose(names),
  }
}

const known = {
  url: { type: 'string' },
  against: { type: 'string' },
  telemetry: { type: 'boolean' },
  hooks: { type: 'boolean' },
  beside: { type: 'string' },
  replicas: { type: 'string' },
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
  const all = new Set([...catalogue.map(({ name }) => name), 'enumeration'])
  const unknown = names.find((name) => !all.has(name))
  if (unknown !== undefined) {
    throw new TypeError(`There is no scenario ${unknown}; there are ${[...all].join(', ')}`)
  }
  return names.length === 0 ? catalogue : catalogue.filter(({ name }) => names.includes(name))
}

function chooseQuestions(lists: string[]): Question[] {
  const names = lists.flatMap((list) => list.split(','))
  const known = questions.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new TypeError(`There is no question ${unknown}; there are ${known.join(', ')}`)
  }
  return names.length === 0 ? questions : questions.filter(({ name }) => names.includes(name))
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
