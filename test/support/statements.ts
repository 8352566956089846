/** What a server says to its database, statement by statement. */
import type pg from 'pg'

import type { App } from './server.ts'

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
  // The server follows its signing keys and samples password hashes every few seconds, whatever is asked of it.
  const background = /postern_signing_keys|tablesample|pg_relation_size/
  return statements.filter((text) => !background.test(text))
}

export function textOf(query: unknown): string {
  return typeof query === 'object' && query !== null && 'text' in query
    ? String(query.text)
    : String(query)
}
