import { join } from 'node:path'

import { variables } from '../../config/groups/index.ts'
import { type Environment, type Found, lookUp } from '../../config/names.ts'
import { startPostgres } from '../../dev/postgres/index.ts'

interface OpenDatabase {
  url: string
  /** It is in .data/, and has only what was made in development. */
  isOwn: boolean
  stop(): Promise<void>
}

interface OpenDatabaseOptions {
  /** The folder of the embedded database. */
  dir: string
  /** The database of the command line. */
  given: string | undefined
}

/**
 * Opens the database of the command line, else an embedded one. DATABASE_URL is used only when the operator permits it:
 * a production .env in the folder must not expose real accounts. Throws an Error with one sentence.
 */
export async function openDatabase(
  env: Environment,
  { dir, given }: OpenDatabaseOptions,
): Promise<OpenDatabase> {
  if (given !== undefined) return foreign(given)
  const own = lookUp(env, 'DATABASE_URL', variables.DATABASE_URL)
  if (own === undefined) {
    const log = { info: (message: string) => console.log(message) }
    return { ...(await startPostgres({ dir: join(dir, 'postgres'), log })), isOwn: true }
  }
  const allowed = variables.AUTH_DEV_ALLOW_DATABASE_URL
  const isMeant = lookUp(env, 'AUTH_DEV_ALLOW_DATABASE_URL', allowed)?.text === 'true'
  if (!isMeant) throw new Error(rejection(own))
  return foreign(own.text)
}

function foreign(url: string): OpenDatabase {
  console.warn(
    `DEVELOPMENT MODE ON THE DATABASE ${databaseName(url)}: anyone can sign in under any name.`,
  )
  return { url, isOwn: false, stop: async () => {} }
}

function rejection({ name, text }: Found): string {
  return `${name} is set, in the environment or in .env, to the database ${databaseName(text)}.
npm run dev does not use it: in development anyone can sign in under any name, and no email is sent.
  For a separate database in .data/:     remove ${name}, or start in another folder
  To use that database:                  npm run dev -- --database-url URL
                                         or AUTH_DEV_ALLOW_DATABASE_URL=true
  For production:                        npm start`
}

/** Without credentials and parameters. */
export function databaseName(text: string): string {
  const url = URL.parse(text)
  return url ? `${url.pathname.slice(1)} on ${url.host || 'this machine'}` : 'that it names'
}
