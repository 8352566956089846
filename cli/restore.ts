/** `npm run restore`: a backup into an empty database, all of it or nothing. */
import { sql } from 'kysely'

import { missingIndexes } from '../db/own-indexes.ts'
import { readArguments } from './backup/arguments.ts'
import { type Dump, readDump } from './backup/dump.ts'
import { findObstacles, missingKey } from './backup/obstacles.ts'
import { addressForPrograms, findProgram, runProgram } from './backup/programs.ts'
import { type CommandContext, withContext } from './context.ts'

export const usage = `npm run restore -- FILE                into the database of DATABASE_URL
npm run restore -- FILE --without-key  although what is encrypted cannot be read any more`

/** The command. Throws an Error that says everything that is in the way. */
export async function run(args: readonly string[]): Promise<void> {
  const { file, isSet: isWithoutKey } = readArguments(args, { option: 'without-key', usage })
  await withContext(
    () => {},
    (context) => restore(context, file, isWithoutKey),
  )
}

async function restore(
  context: CommandContext,
  file: string,
  isWithoutKey: boolean,
): Promise<void> {
  const { config, db, encryption } = context
  const dump = await readDump(file, config.AUTH_DB_NAMESPACE)
  const obstacles = [
    ...(isWithoutKey ? [] : missingKey(encryption, dump)),
    ...(await findObstacles(db, dump)),
  ]
  if (obstacles.length > 0) throw new Error(obstacles.join('\n'))
  await createHomes(context, dump)
  const program = await findProgram('pg_restore', dump.major)
  await runProgram(program, config.DATABASE_URL, [
    ...['--single-transaction', '--exit-on-error', '--no-password'],
    `--dbname=${addressForPrograms(config.DATABASE_URL)}`,
    file,
  ])
  // Until somebody has counted, every plan is a guess.
  await sql`analyze`.execute(db)
  await tell(context)
}

/** A backup of our schemas alone names the schema of an extension and does not make it; one of everything makes it. */
async function createHomes({ db }: CommandContext, { extensions, schemas }: Dump): Promise<void> {
  const made = ['pg_catalog', ...schemas]
  for (const { schema } of extensions.filter(({ schema }) => !made.includes(schema))) {
    await sql`create schema if not exists ${sql.id(schema)}`.execute(db)
  }
}

async function tell({ config, db }: CommandContext): Promise<void> {
  const { people } = await db
    .selectFrom('users')
    .select((eb) => eb.fn.countAll<number>().as('people'))
    .executeTakeFirstOrThrow()
  console.log(`Restored, with ${people} people. Start the server with the secrets that it had.`)
  const missing = await missingIndexes(db, config.AUTH_DB_NAMESPACE)
  if (missing.length > 0) {
    console.log(`The start builds what is missing: ${missing.map(({ name }) => name).join(', ')}.`)
  }
}
