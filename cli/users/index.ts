/** `npm run users`: imports and exports users. */
import { parseArgs } from 'node:util'

import { type Format, getFileFormat } from '../../modules/user-import/index.ts'
import { auditCommand } from '../shared/audit-command.ts'
import { type CommandContext, withContext } from '../shared/context.ts'
import { writeUsers } from './export.ts'
import { importUsers } from './import.ts'
import { createProgressBar } from './progress-bar.ts'

export const usage = `npm run users -- import FILE.ndjson|FILE.csv [--dry-run] [--resume | --restart]
npm run users -- export [FILE.ndjson|FILE.csv] [--format ndjson|csv]`

const options = {
  'dry-run': { type: 'boolean', default: false },
  resume: { type: 'boolean', default: false },
  restart: { type: 'boolean', default: false },
  format: { type: 'string' },
} as const

/** Runs the command. Throws an Error with one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [name, file, ...rest] = positionals
  if (rest.length > 0 || (values.resume && values.restart)) throw new Error(`Usage:\n${usage}`)
  if (name === 'import' && file && values.format === undefined) {
    const unfinished = values.resume ? 'resume' : values.restart ? 'restart' : undefined
    return withContext(ignoreNotice, (context) =>
      runImport(context, file, values['dry-run'], unfinished),
    )
  }
  if (name !== 'export') throw new Error(`Usage:\n${usage}`)
  const format = readFormat(values.format, file)
  return withContext(ignoreNotice, async (context) => {
    const count = await writeUsers(context, { file, format })
    console.error(`${count} exported`)
  })
}

/** Ignores configuration notices, which concern the server. */
function ignoreNotice(): void {}

async function runImport(
  { db, config }: CommandContext,
  file: string,
  dryRun: boolean,
  unfinished: 'resume' | 'restart' | undefined,
): Promise<void> {
  const startedAt = performance.now()
  getFileFormat(file)
  const defaults = { aud: config.AUTH_JWT_AUD, role: config.AUTH_JWT_DEFAULT_GROUP_NAME }
  const progressBar = createProgressBar()
  const outcome = await importUsers(db, { file, unfinished, dryRun, defaults, progressBar })
  const { imported, refused, reportPath } = outcome
  if (!dryRun) {
    const traits = { command: 'npm run users', now: new Date(), imported, refused }
    await auditCommand(db, config, 'users_imported', traits)
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(
    `${imported} ${dryRun ? 'could be imported' : 'imported'}, ${refused} rejected, ${seconds} s`,
  )
  if (refused > 0) console.log(`Rejected rows and reasons: ${reportPath}`)
}

function readFormat(given: string | undefined, file: string | undefined): Format {
  if (given === undefined) return file ? getFileFormat(file) : 'ndjson'
  if (given === 'csv' || given === 'ndjson') return given
  throw new Error(`--format ${given} is unknown: use ndjson or csv.`)
}
