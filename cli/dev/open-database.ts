import { join } from 'node:path'

import { variables } from '../../plugins/config/config.ts'
import { type Environment, type Found, lookUp } from '../../plugins/config/names.ts'
import { startPostgres } from './postgres.ts'

export interface OpenDatabase {
  url: string
  stop(): Promise<void>
}

export interface OpenDatabaseOptions {
  /** Keeps an embedded database. */
  dir: string
  /** What the command line names. */
  given: string | undefined
}

/**
 * The database that the command line names, else an embedded one. That of DATABASE_URL only where the operator says so:
 * a production .env in the folder must not open real accounts to everybody. Throws with one sentence.
 */
export async function openDatabase(
  env: Environment,
  { dir, given }: OpenDatabaseOptions,
): Promise<OpenDatabase> {
  if (given !== undefined) return foreign(given)
  const own = lookUp(env, 'DATABASE_URL', variables.DATABASE_URL)
  if (own === undefined) {
    const log = { info: (message: string) => console.log(message) }
    return startPostgres({ dir: join(dir, 'postgres'), log })
  }
  const allowed = variables.AUTH_DEV_ALLOW_DATABASE_URL
  const isMeant = lookUp(env, 'AUTH_DEV_ALLOW_DATABASE_URL', allowed)?.text === 'true'
  if (!isMeant) throw new Error(refusal(own))
  return foreign(own.text)
}

function foreign(url: string): OpenDatabase {
  console.warn(
    `DEVELOPMENT MODE ON THE DATABASE ${databaseName(url)}: anybody signs in there under any name.`,
  )
  return { url, stop: async () => {} }
}

function refusal({ name, text }: Found): string {
  return `${name} is set, in the environment or in .env, to the database ${databaseName(text)}.
npm run dev does not touch it: in development anybody signs in under any name, and no mail goes out.
  For a database of its own, in .data/:  remove ${name}, or start in another folder
  If that database is meant:             npm run dev -- --database-url URL
                                         or AUTH_DEV_ALLOW_DATABASE_URL=true
  For production:                        npm start`
}

/** Without who connects and how. */
export function databaseName(text: string): string {
  const url = URL.parse(text)
  return url ? `${url.pathname.slice(1)} on ${url.host || 'this machine'}` : 'that it names'
}
