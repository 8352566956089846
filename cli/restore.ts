/** `npm run restore`: restores a backup into an empty database in one transaction. */
import { sql } from 'kysely'

import { missingIndexes } from '../db/migrate/indexes.ts'
import { readArguments } from './backup/arguments.ts'
import { findRestoreBlockers, missingKey } from './backup/blockers.ts'
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
    ...['--single-transaction', '--exit-on-error', '--no-password'],
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
