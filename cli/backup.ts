/** `npm run backup`: the database in one file, as of one moment, and looked through once it is written. */
import { rename, rm, stat, writeFile } from 'node:fs/promises'

import { sql } from 'kysely'

import { readArguments } from './backup/arguments.ts'
import { readDump } from './backup/dump.ts'
import { addressForPrograms, findProgram, runProgram } from './backup/programs.ts'
import { type CommandContext, withContext } from './context.ts'

export const usage = `npm run backup -- FILE              the whole database
npm run backup -- FILE --auth-only  the schemas of this server alone`

/** Brought along by every backup: indexes of ours are made of it, and it lies in no schema of ours. */
const extension = 'pg_trgm'

/** The command. Throws an Error that is one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const { file, isSet: isAuthOnly } = readArguments(args, { option: 'auth-only', usage })
  await withContext(
    () => {},
    (context) => backUp(context, file, isAuthOnly),
  )
}

async function backUp(
  { config, db, queueSchema }: CommandContext,
  file: string,
  isAuthOnly: boolean,
): Promise<void> {
  if (await exists(file)) throw new Error(`${file} is there already: choose another name.`)
  const { rows } = await sql<{ major: number; extended: boolean }>`
    select current_setting('server_version_num')::int / 10000 as major,
      exists (select from pg_extension where extname = ${extension}) as extended
  `.execute(db)
  const [server = { major: 0, extended: false }] = rows
  const program = await findProgram('pg_dump', server.major)
  const part = `${file}.part`
  // Whoever reads a backup knows every address and every hash: a file that is there already may be for others to read.
  await rm(part, { force: true })
  await writeFile(part, '', { flag: 'wx', mode: 0o600 })
  try {
    await runProgram(program, config.DATABASE_URL, [
      ...['--format=custom', `--file=${part}`, '--no-password'],
      ...(isAuthOnly ? [`--schema=${config.AUTH_DB_NAMESPACE}`, `--schema=${queueSchema}`] : []),
      ...(isAuthOnly && server.extended ? [`--extension=${extension}`] : []),
      `--dbname=${addressForPrograms(config.DATABASE_URL)}`,
    ])
    const { keyId } = await readDump(part, config.AUTH_DB_NAMESPACE)
    await rename(part, file)
    const { size } = await stat(file)
    console.log(`${file}: ${Math.ceil(size / 1024)} KiB.`)
    if (keyId) console.log(`Its secrets are encrypted with the key ${keyId}: keep that elsewhere.`)
  } finally {
    await rm(part, { force: true })
  }
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}
