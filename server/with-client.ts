/** Runs work on a separate connection. */
import type pg from 'pg'

import { DatabaseClient } from '../plugins/database/pool/database-client.ts'

export async function withClient<Result>(
  config: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new DatabaseClient(config)
  // A lost connection is reported by the pending statement.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
