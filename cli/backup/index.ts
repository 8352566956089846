/** `npm run backup`: a consistent dump of the database in one file, verified after writing. */
import { rename, rm, stat, writeFile } from 'node:fs/promises'

import { sql } from 'kysely'

import { type CommandContext, withContext } from '../shared/context.ts'
import { readArguments } from './arguments.ts'
import { readDump } from './dump.ts'
import { addressForPrograms, findProgram, runProgram } from './programs.ts'

export const usage = `npm run backup -- FILE              the whole database
npm run backup -- FILE --auth-only  the schemas of this server only`

/** Part of every backup: our indexes need it, and it is in none of our schemas. */
const extension = 'pg_trgm'

/** The Postgres of npm run dev comes without client programs. */
const copyHint =
  'A development database can be copied instead: stop npm run dev, then run cp -RL .data COPY.'

/** Runs the command. Throws an Error with one sentence for the operator. */
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
  if (await exists(file)) throw new Error(`${file} already exists: choose another name.`)
  const { rows } = await sql<{ major: number; extended: boolean }>`
    select current_setting('server_version_num')::int / 10000 as major,
      exists (select from pg_extension where extname = ${extension}) as extended
  `.execute(db)
  const [server = { major: 0, extended: false }] = rows
  const program = await findProgram('pg_dump', server.major).catch((error) => {
    throw config.dev && error instanceof Error ? new Error(`${error.message}\n${copyHint}`) : error
  })
  const part = `${file}.part`
  // A backup has every address and hash: an existing file may be readable by others.
  await rm(part, { force: true })
  await writeFile(part, '', { flag: 'wx', mode: 0o600 })
  try {
    await runProgram(program, config.DATABASE_URL, [
      '--format=custom',
      `--file=${part}`,
      '--no-password',
      ...(isAuthOnly ? [`--schema=${config.AUTH_DB_NAMESPACE}`, `--schema=${queueSchema}`] : []),
      ...(isAuthOnly && server.extended ? [`--extension=${extension}`] : []),
      `--dbname=${addressForPrograms(config.DATABASE_URL)}`,
    ])
    const { keyId } = await readDump(part, config.AUTH_DB_NAMESPACE)
    await rename(part, file)
    const { size } = await stat(file)
    console.log(`${file}: ${Math.ceil(size / 1024)} KiB.`)
    if (keyId) {
      console.log(`Its secrets are encrypted with the key ${keyId}: store that key separately.`)
    }
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
