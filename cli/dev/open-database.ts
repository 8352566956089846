import { join } from 'node:path'

import { variables } from '../../plugins/config/config.ts'
import { type Environment, lookUp } from '../../plugins/config/names.ts'
import { startPostgres } from './postgres.ts'

export interface OpenDatabase {
  url: string
  stop(): Promise<void>
}

/** The database that DATABASE_URL names, else an embedded one in `dir`. Throws PostgresStartError. */
export async function openDatabase(env: Environment, dir: string): Promise<OpenDatabase> {
  const own = lookUp(env, 'DATABASE_URL', variables.DATABASE_URL)
  if (own !== undefined) return { url: own.text, stop: async () => {} }
  return startPostgres({
    dir: join(dir, 'postgres'),
    log: { info: (message) => console.log(message) },
  })
}
