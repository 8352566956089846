/** The statements that a server sends to its database. */
import type pg from 'pg'

import type { App } from './server.ts'

/** Background statements: following signing keys and settings, sampling hashes, sending emails. */
const backgroundPatterns = [
  /^select \* from "\w+"\."postern_settings" order by "name"$/,
  /postern_signing_keys|postern_api_tokens|tablesample|pg_relation_size/,
  /^(select|update|with "(dead|message)" as \(update)\b.*postern_mail_messages/s,
]

export const isBackgroundStatement = (text: string): boolean =>
  backgroundPatterns.some((pattern) => pattern.test(text))

/** The commands around statements that are committed together. */
const groupCommand = /^(begin|set local lock_timeout = 25|commit)$/

interface Trip {
  client: pg.PoolClient
  texts: string[]
}

/**
 * Leaves out background statements, also a group of them with its commands. On a connection that runs one of them for
 * the first time, a group takes several trips, of which the first or last may be sent before or after.
 */
function withoutBackground(trips: readonly Trip[]): string[][] {
  const groups = new Map<pg.PoolClient, Trip[]>()
  const background = new Set<Trip>()
  for (const trip of trips) {
    const group = [...(groups.get(trip.client) ?? []), trip]
    const isOpen = group[0]?.texts.includes('begin') && !trip.texts.some(endsTransaction)
    groups.set(trip.client, isOpen ? group : [])
    if (!isOpen && isBackgroundGroup(group)) for (const one of group) background.add(one)
  }
  for (const group of groups.values()) {
    if (isBackgroundGroup(group)) for (const one of group) background.add(one)
  }
  return trips.filter((trip) => !background.has(trip)).map(({ texts }) => texts)
}

const endsTransaction = (text: string) => text === 'commit' || text === 'rollback'

/** Also of commands alone without its begin or its end: that of a request is complete. */
function isBackgroundGroup(group: readonly Trip[]): boolean {
  const texts = group.flatMap((trip) => trip.texts)
  const statements = texts.filter((text) => !groupCommand.test(text))
  if (statements.length === 0) return !(texts.includes('begin') && texts.some(endsTransaction))
  return statements.every(isBackgroundStatement)
}

/** For servers whose statements a test pauses or delays: pipelined statements bypass the result of `client.query`. */
export const unnamedStatements = { AUTH_DB_PREPARED_STATEMENTS: 'false' }

/** The text of a statement that can be paused; throws for a pipelined one. */
export function bufferedText(query: unknown): string {
  if (!isObject(query) || !('submit' in query)) return statementText(query)
  throw new Error('the server of this test must have unnamedStatements')
}

/** Runs `act` before the first statement whose text matches, on connections that are opened from now on. */
export function beforeStatement(pool: pg.Pool, pattern: RegExp, act: () => Promise<unknown>): void {
  let acted: Promise<unknown> | undefined
  pool.on('connect', (client) => {
    client.query = new Proxy(client.query, {
      apply(send, self, args) {
        if (acted || !pattern.test(bufferedText(args[0]))) return Reflect.apply(send, self, args)
        acted = act()
        return acted.then(() => Reflect.apply(send, self, args))
      },
    })
  })
}

/** Runs `act` and returns the statements sent on the request pool in that time. */
export async function watchStatements(app: App, act: () => Promise<unknown>): Promise<string[]> {
  return (await recordTrips(app, act)).flat()
}

/** The same by round trips: statements that a connection has run before may go out together. */
export async function recordTrips(app: App, act: () => Promise<unknown>): Promise<string[][]> {
  return (await watchTrips(app, act)).trips
}

/** The same with what `act` resolves to. */
export async function watchTrips<T>(
  app: App,
  act: () => Promise<T>,
): Promise<{ result: T; trips: string[][] }> {
  const { result, trips } = await watched(app.pool, act)
  return { result, trips: withoutBackground(trips) }
}

/** All statements sent on the pool while `act` runs, by round trips. */
export async function watchPool(
  pool: pg.Pool,
  /** Receives the statements sent so far. */
  act: (trips: readonly Trip[]) => Promise<unknown>,
): Promise<string[][]> {
  return (await watched(pool, act)).trips.map(({ texts }) => texts)
}

async function watched<T>(
  pool: pg.Pool,
  act: (trips: readonly Trip[]) => Promise<T>,
): Promise<{ result: T; trips: Trip[] }> {
  const trips: Trip[] = []
  const originals = new Map<pg.PoolClient, pg.PoolClient['query']>()
  const watch = (client: pg.PoolClient) => {
    if (originals.has(client)) return
    originals.set(client, client.query)
    client.query = new Proxy(client.query, {
      apply(query, self, args) {
        trips.push({ client, texts: getTexts(args[0]) })
        return Reflect.apply(query, self, args)
      },
    })
  }
  pool.on('acquire', watch)
  try {
    return { result: await act(trips), trips }
  } finally {
    pool.off('acquire', watch)
    for (const [client, query] of originals) client.query = query
  }
}

function getTexts(query: unknown): string[] {
  const texts = isObject(query) && 'texts' in query ? query.texts : undefined
  return Array.isArray(texts) ? texts.map(String) : [statementText(query)]
}

const statementText = (query: unknown): string =>
  isObject(query) && 'text' in query ? String(query.text) : String(query)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
