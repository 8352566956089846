/** What a server says to its database, statement by statement. */
import type pg from 'pg'

import type { App } from './server.ts'

/** What goes on beside requests, whatever is asked: following the signing keys, sampling hashes, sending mail. */
const beside = [
  /postern_signing_keys|tablesample|pg_relation_size/,
  /^(select|update|with "(dead|message)" as \(update)\b.*postern_mail_messages/s,
]

export const isBeside = (text: string): boolean => beside.some((pattern) => pattern.test(text))

/**
 * For servers whose statements a test holds back or delays: a statement that a connection knows is answered to the
 * server directly, not by what `client.query` returns.
 */
export const unnamedStatements = { AUTH_DB_PREPARED_STATEMENTS: 'false' }

/** The text of a statement that can be held back; throws for one that a connection knows. */
export function heldText(query: unknown): string {
  if (typeof query !== 'object' || query === null || !('submit' in query)) return textOf(query)
  throw new Error('the server of this test must have unnamedStatements')
}

/** Runs `act` and returns the statements that went out on the pool of the requests meanwhile. */
export async function statementsOf(app: App, act: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = []
  const originals = new Map<pg.PoolClient, pg.PoolClient['query']>()
  const watch = (client: pg.PoolClient) => {
    if (originals.has(client)) return
    originals.set(client, client.query)
    client.query = new Proxy(client.query, {
      apply(query, self, args) {
        statements.push(textOf(args[0]))
        return Reflect.apply(query, self, args)
      },
    })
  }
  app.pool.on('acquire', watch)
  try {
    await act()
  } finally {
    app.pool.off('acquire', watch)
    for (const [client, query] of originals) client.query = query
  }
  return statements.filter((text) => !isBeside(text))
}

export function textOf(query: unknown): string {
  return typeof query === 'object' && query !== null && 'text' in query
    ? String(query.text)
    : String(query)
}
