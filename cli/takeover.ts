/** `npm run takeover`: what taking a GoTrue's database over means, how far it is, and the end of it in either direction. */
import { sql } from 'kysely'

import { hasTable } from '../db/gotrue-database.ts'
import {
  deleteImpersonatedSessions,
  dropOwnObjects,
  findTakeover,
  finishTakeover,
} from '../db/takeover.ts'
import { configuredEncryption } from '../plugins/encryption.ts'
import { type CommandContext, withContext } from './context.ts'
import { examine } from './takeover/check.ts'
import type { Finding } from './takeover/finding.ts'
import { checkSecrets, resealSecrets } from './takeover/secrets.ts'

export const usage = `npm run takeover -- check    reads only: what the start would do, and what is in its way
npm run takeover -- status   whether GoTrue may still come back
npm run takeover -- undo     hands the database back to GoTrue; stop this server first
npm run takeover -- finish   no way back is wanted: secrets are encrypted; restart the servers afterwards`

type Command = (context: CommandContext) => Promise<void>

const commands: Record<string, Command> = { status, undo, finish }

/** The command. Throws an Error that is one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const [name = '', ...rest] = args
  if (rest.length === 0 && name === 'check') return check()
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command || rest.length > 0) throw new Error(`Usage:\n${usage}`)
  await withContext(() => {}, command)
}

/** Ends with exit code 1 when the server would not start. */
async function check(): Promise<void> {
  const notices: string[] = []
  await withContext(
    (notice) => notices.push(notice),
    async ({ config, db }) => {
      const findings = await examine(db, config)
      for (const finding of findings) console.log(lineOf(finding))
      for (const notice of notices) console.log(`note   ${notice}`)
      const stops = findings.filter(({ level }) => level === 'stop').length
      console.log(stops === 0 ? plan : `${stops} ${firstThat}`)
      if (stops > 0) process.exitCode = 1
    },
  )
}

const firstThat = 'to be settled first: every line that begins with "stop". Then run this again.'

const plan = `Nothing is in the way.
1. Start this server with the same variables, beside GoTrue or in its place. It adds its tables while GoTrue serves.
2. Lead all requests here, then stop GoTrue. Nobody has to sign in again.
3. "npm run takeover -- undo" leads back to GoTrue. When no way back is wanted: "npm run takeover -- finish".`

function lineOf({ level, sentence }: Finding): string {
  return `${level.padEnd(6)} ${sentence}`
}

async function status({ config, db }: CommandContext): Promise<void> {
  if (!(await hasTable(db, config.AUTH_DB_NAMESPACE, 'postern_takeover'))) {
    console.log('This server has not been started on the database yet.')
    return
  }
  const { state, began_at, finished_at } = await findTakeover(db)
  const words =
    state === 'shared'
      ? `Shared with GoTrue since ${began_at.toISOString()}: what both read is stored as GoTrue stores it.`
      : `This server's own${finished_at ? ` since ${finished_at.toISOString()}` : ''}.`
  console.log(words)
}

async function finish({ config, db }: CommandContext): Promise<void> {
  const schema = config.AUTH_DB_NAMESPACE
  const encryption = configuredEncryption(config, { isShared: false })
  await checkSecrets(db, schema, encryption)
  await finishTakeover(db)
  const count = await resealSecrets(db, schema, encryption)
  console.log(`Finished: ${count} secrets were encrypted. Restart the servers now.`)
}

async function undo({ config, db, queueSchema }: CommandContext): Promise<void> {
  const schema = config.AUTH_DB_NAMESPACE
  if (!(await hasTable(db, schema, 'postern_takeover'))) {
    throw new Error('There is nothing to undo: this server has not been started on the database.')
  }
  await refuseWhileServing(db)
  const count = await resealSecrets(db, schema, configuredEncryption(config, { isShared: true }))
  await deleteImpersonatedSessions(db)
  await db.transaction().execute((trx) => dropOwnObjects(trx, schema, queueSchema))
  console.log(
    `Undone: ${count} secrets were handed back, and nothing of ours is left in the schema.`,
  )
}

/** A server that goes on would write what is being dropped. */
async function refuseWhileServing(db: CommandContext['db']): Promise<void> {
  const { rows } = await sql<{ others: number }>`
    select count(*)::int as others from pg_stat_activity
    where application_name = 'postern' and datname = current_database() and query ilike 'listen %'
  `.execute(db)
  if (rows[0]?.others) {
    throw new Error('A server of ours still works on the database: stop it first.')
  }
}
