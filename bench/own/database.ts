/** The database of a run: in an embedded Postgres, or in an existing server, such as a distribution’s. */
import { join } from 'node:path'

import { startPostgres } from '../../dev/postgres/index.ts'
import { withClient } from '../../server/with-client.ts'

/** An empty database. Without `existing`, the URL of a Postgres, one is started with its files in `folder`. */
export async function startDatabase(
  started: AsyncDisposableStack,
  folder: string,
  existing: string | undefined,
): Promise<string> {
  if (existing !== undefined) return addDatabase(started, existing, `postern_bench_${process.pid}`)
  const postgres = await startPostgres({ dir: join(folder, 'postgres'), log: console })
  started.defer(postgres.stop)
  return postgres.url
}

/** One more database in the same Postgres, dropped at the end of the run. Returns its URL. */
export async function addDatabase(
  started: AsyncDisposableStack,
  databaseUrl: string,
  name: string,
): Promise<string> {
  const run = (statement: string) =>
    withClient({ connectionString: databaseUrl }, (client) => client.query(statement))
  await run(`create database ${name} template template0`)
  started.defer(async () => void (await run(`drop database ${name} with (force)`)))
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  return url.href
}
