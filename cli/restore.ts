/** `npm run restore`: restores a backup into an empty database in one transaction. */
import { sql } from 'kysely'

import type { Db } from '../db/core/database.ts'
import { missingIndexes } from '../db/migrate/indexes.ts'
import { DecryptionError, type Encryption } from '../plugins/security/encryption/index.ts'
import { readArguments } from './backup/arguments.ts'
import { type Dump, readDump } from './backup/dump.ts'
import { addressForPrograms, findProgram, runProgram } from './backup/programs.ts'
import { type CommandContext, withContext } from './shared/context.ts'

export const usage = `npm run restore -- FILE                into the database of DATABASE_URL
npm run restore -- FILE --allow-missing-key  even if the encryption key of the backup is missing`

/** Runs the command. Throws an Error with everything that prevents the restore. */
export async function run(args: readonly string[]): Promise<void> {
  const { file, isSet: allowsMissingKey } = readArguments(args, {
    option: 'allow-missing-key',
    usage,
  })
  await withContext(
    () => {},
    (context) => restore(context, file, allowsMissingKey),
  )
}

async function restore(
  context: CommandContext,
  file: string,
  allowsMissingKey: boolean,
): Promise<void> {
  const { config, db, encryption } = context
  const dump = await readDump(file, config.AUTH_DB_NAMESPACE)
  const blockers = [
    ...(allowsMissingKey ? [] : missingKey(encryption, dump)),
    ...(await findRestoreBlockers(db, dump)),
  ]
  if (blockers.length > 0) throw new Error(blockers.join('\n'))
  await createHomes(context, dump)
  const program = await findProgram('pg_restore', dump.major)
  await runProgram(program, config.DATABASE_URL, [
    '--single-transaction',
    '--exit-on-error',
    '--no-password',
    `--dbname=${addressForPrograms(config.DATABASE_URL)}`,
    file,
  ])
  // Updates the planner statistics, which a dump does not contain.
  await sql`analyze`.execute(db)
  await printResult(context)
}

/** A dump of single schemas refers to the schema of an extension without creating it; a full dump creates it. */
async function createHomes({ db }: CommandContext, { extensions, schemas }: Dump): Promise<void> {
  const made = ['pg_catalog', ...schemas]
  for (const { schema } of extensions.filter(({ schema }) => !made.includes(schema))) {
    await sql`create schema if not exists ${sql.id(schema)}`.execute(db)
  }
}

async function printResult({ config, db }: CommandContext): Promise<void> {
  const { users } = await db
    .selectFrom('users')
    .select((eb) => eb.fn.countAll<number>().as('users'))
    .executeTakeFirstOrThrow()
  console.log(`Restored (users: ${users}). Start the server with its previous secrets.`)
  const { AUTH_DB_NAMESPACE: schema, AUTH_DB_INDEX_USER_NAMES: indexesUserNames } = config
  const missing = await missingIndexes(db, { schema, indexesUserNames })
  if (missing.length > 0) {
    console.log(`The start creates what is missing: ${missing.map(({ name }) => name).join(', ')}.`)
  }
}

/** Checks that prevent a restore, run before anything is changed; each result is one sentence for the operator. */
async function findRestoreBlockers(db: Db, dump: Dump): Promise<string[]> {
  return [
    ...(await contents(db)),
    ...(await version(db, dump)),
    ...(await missingRoles(db, dump)),
    ...(await foreignOwners(db, dump)),
    ...(await missingExtensions(db, dump)),
  ]
}

/** docs/operations.md describes the consequences of a missing key. */
function missingKey(encryption: Encryption, { probe }: Dump): string[] {
  if (!probe) return []
  try {
    encryption.decrypt(probe.id, probe.value, 'The data in this backup')
    return []
  } catch (error) {
    if (error instanceof DecryptionError) return [error.message]
    throw error
  }
}

/** Without objects of extensions. */
async function contents(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select format('%I.%I', nspname, relname) as name
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm', 'S', 'f') and nspname !~ '^pg_'
      and nspname <> 'information_schema' and not exists (
        select from pg_depend
        where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e'
      )
    order by 1 limit 3
  `.execute(db)
  if (rows.length === 0) return []
  const names = rows.map(({ name }) => name).join(', ')
  return [
    `The database is not empty (${names}): restore into a new one, created with createdb or "create database".`,
  ]
}

async function version(db: Db, { major }: Dump): Promise<string[]> {
  const { rows } = await sql<{ major: number }>`
    select current_setting('server_version_num')::int / 10000 as major`.execute(db)
  const serverMajor = rows[0]?.major ?? 0
  if (serverMajor >= major) return []
  return [
    `The backup is from Postgres ${major}, but this server is version ${serverMajor}: use version ${major}.`,
  ]
}

/** The attributes that the migrations set. */
const attributes: Record<string, string> = {
  anon: 'nologin noinherit',
  authenticated: 'nologin noinherit',
  service_role: 'nologin noinherit bypassrls',
}

async function missingRoles(db: Db, { roles }: Dump): Promise<string[]> {
  const { rows } = await sql<{ name: string; quoted: string }>`
    select name, quote_ident(name) as quoted from unnest(${roles}::text[]) as wanted (name)
    where not exists (select from pg_roles where rolname = name) order by 1
  `.execute(db)
  return rows.map(
    ({ name, quoted }) =>
      `The role ${name} is missing. Run as an administrator: create role ${quoted} ${attributes[name] ?? 'login'};`,
  )
}

async function foreignOwners(db: Db, { owners }: Dump): Promise<string[]> {
  const { rows } = await sql<{ login: string; owner: string }>`
    select current_user as login, rolname as owner from pg_roles
    where rolname = any(${owners}::text[]) and not pg_has_role(rolname, 'member') order by 2
  `.execute(db)
  return rows.map(
    ({ login, owner }) =>
      `${login} may not assign objects to the role ${owner}: set DATABASE_URL to a login that may, for this command.`,
  )
}

async function missingExtensions(db: Db, { extensions }: Dump): Promise<string[]> {
  const names = extensions.map(({ name }) => name)
  const { rows } = await sql<{ name: string }>`
    select wanted.name from unnest(${names}::text[]) as wanted (name)
    where not exists (select from pg_available_extensions as known where known.name = wanted.name)
  `.execute(db)
  return rows.map(
    ({ name }) => `The extension ${name} is not installed on this server: install its package.`,
  )
}
