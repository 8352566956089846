/** `npm run takeover`: checks the migration of a GoTrue database, shows its state, and ends it in either direction. */
import { sql } from 'kysely'

import type { Db } from '../../db/core/database.ts'
import { hasTable } from '../../db/gotrue/database.ts'
import {
  deleteImpersonatedSessions,
  dropPosternObjects,
  findTakeover,
  finishTakeover,
  restoreExternalIdIndex,
} from '../../db/gotrue/takeover.ts'
import {
  findSecrets,
  gotrueSecretColumns,
  type SecretColumn,
  type StoredSecret,
} from '../../db/keys/encryption.ts'
import { configuredEncryption, type Encryption } from '../../plugins/security/encryption/index.ts'
import { type CommandContext, withContext } from '../shared/context.ts'
import { reencryptStored } from '../shared/reencrypt-stored.ts'
import { checkTakeover } from './check.ts'
import type { TakeoverFinding } from './contents.ts'

// Re-encrypts every secret in GoTrue's tables.

const batch = 1000

/**
 * Returns the number of re-encrypted secrets. Throws DecryptionError for one whose key is missing, before any is
 * changed.
 */
export async function reencryptStoredSecrets(
  db: Db,
  schema: string,
  encryption: Encryption,
): Promise<number> {
  await checkSecrets(db, schema, encryption)
  let count = 0
  for await (const { where, found } of batches(db, schema)) {
    const changed = found
      .filter(({ value }) => !encryption.isSealed(value))
      .map((secret) => {
        const stored = encryption.seal(secret.id, decryptSecret(encryption, where, secret))
        return { ...secret, stored }
      })
    await reencryptStored(db, schema, where, changed)
    count += changed.length
  }
  return count
}

/** Throws DecryptionError for the first secret that cannot be decrypted. */
async function checkSecrets(db: Db, schema: string, encryption: Encryption): Promise<void> {
  for await (const { where, found } of batches(db, schema)) {
    for (const secret of found) decryptSecret(encryption, where, secret)
  }
}

function decryptSecret(
  encryption: Encryption,
  { table, column }: SecretColumn,
  secret: StoredSecret,
) {
  return encryption.decrypt(secret.id, secret.value, `${table}.${column}`)
}

async function* batches(db: Db, schema: string) {
  for (const where of gotrueSecretColumns) {
    let after: string | undefined
    for (;;) {
      const found = await findSecrets(db, schema, where, after, batch)
      const last = found.at(-1)
      if (!last) break
      after = last.id
      yield { where, found }
    }
  }
}

export const usage = `npm run takeover -- check    dry run: what the start would do, and what prevents it
npm run takeover -- status   whether GoTrue may still come back
npm run takeover -- undo     returns the database to GoTrue; stop this server first
npm run takeover -- finish   ends the option to return: secrets are encrypted; restart the servers afterwards`

type Command = (context: CommandContext) => Promise<void>

const commands: Record<string, Command> = { status, undo, finish }

/** Runs the command. Throws an Error with one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const [name = '', ...rest] = args
  if (rest.length === 0 && name === 'check') return check()
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command || rest.length > 0) throw new Error(`Usage:\n${usage}`)
  await withContext(() => {}, command)
}

/** Sets exit code 1 when the server would not start. */
async function check(): Promise<void> {
  const notices: string[] = []
  await withContext(
    (notice) => notices.push(notice),
    async (context) => {
      const findings = await checkTakeover(context)
      for (const finding of findings) console.log(formatFinding(finding))
      for (const notice of notices) console.log(`note   ${notice}`)
      const stops = findings.filter(({ level }) => level === 'stop').length
      console.log(stops === 0 ? plan : `${stops} ${firstThat}`)
      if (stops > 0) process.exitCode = 1
    },
  )
}

const firstThat = 'to be fixed first: every line that begins with "stop". Then run this again.'

const plan = `Nothing prevents the start.
1. Start this server with the same variables, next to GoTrue or in its place. It adds its tables while GoTrue serves.
2. Route all requests to this server, then stop GoTrue. No user has to sign in again.
3. "npm run takeover -- undo" returns to GoTrue. "npm run takeover -- finish" completes the migration.`

function formatFinding({ level, sentence }: TakeoverFinding): string {
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
      ? `Shared with GoTrue since ${began_at.toISOString()}: shared data is stored in GoTrue's format.`
      : `This server's own${finished_at ? ` since ${finished_at.toISOString()}` : ''}.`
  console.log(words)
}

async function finish({ config, db }: CommandContext): Promise<void> {
  const schema = config.AUTH_DB_NAMESPACE
  const encryption = configuredEncryption(config, { isShared: false })
  await checkSecrets(db, schema, encryption)
  await finishTakeover(db)
  const count = await reencryptStoredSecrets(db, schema, encryption)
  console.log(`Finished: ${count} secrets were encrypted. Restart the servers now.`)
}

async function undo({ config, db, queueSchema }: CommandContext): Promise<void> {
  const schema = config.AUTH_DB_NAMESPACE
  if (!(await hasTable(db, schema, 'postern_takeover'))) {
    throw new Error('There is nothing to undo: this server was never started on the database.')
  }
  await rejectIfServing(db)
  const count = await reencryptStoredSecrets(
    db,
    schema,
    configuredEncryption(config, { isShared: true }),
  )
  await deleteImpersonatedSessions(db)
  const [inUse, hasIndex] = await db.transaction().execute(async (trx) => {
    const kept = await dropPosternObjects(trx, schema, queueSchema)
    return [kept, await restoreExternalIdIndex(trx, schema)] as const
  })
  console.log(
    `Undone: ${count} secrets were returned, and the tables and functions of this server were dropped.`,
  )
  if (!hasIndex) console.log(sharedExternalIds)
  if (inUse.length > 0) console.log(`Kept, because your policies use them: ${inUse.join(', ')}.`)
}

const sharedExternalIds =
  'Users of a SCIM connection share an externalId: the unique index scim_users_external_id_key of GoTrue was not created.'

/** A running server would write to the dropped tables. */
async function rejectIfServing(db: CommandContext['db']): Promise<void> {
  const { rows } = await sql<{ others: number }>`
    select count(*)::int as others from pg_stat_activity
    where application_name = 'postern' and datname = current_database() and query ilike 'listen %'
  `.execute(db)
  if (rows[0]?.others) {
    throw new Error('A server still uses the database: stop it first.')
  }
}
