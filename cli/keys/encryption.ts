/** `npm run keys -- encryption`: key usage, the next step of a key rotation, and re-encryption with the current key. */
import { randomBytes } from 'node:crypto'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import type { Db } from '../../db/core/database.ts'
import { findTakeover } from '../../db/gotrue/takeover.ts'
import {
  countKeyUsage,
  findSecrets,
  gotrueSecretColumns,
  posternSecretColumns,
  type SecretColumn,
  type StoredSecret,
} from '../../db/keys/encryption.ts'
import {
  configuredEncryption,
  DecryptionError,
  type Encryption,
} from '../../plugins/security/encryption/index.ts'
import { type CommandContext, withContext } from '../shared/context.ts'
import { reencryptStored } from '../shared/reencrypt-stored.ts'
import { keysInUse, nextChange, type ScheduledKeyChange, type UsedKey } from './used-keys.ts'

// Re-encrypts every secret with the current key, in small batches while the server runs.

const batch = 500

/** Pause between two batches in milliseconds, so that requests are not delayed. */
const pauseMs = 20

interface Reencrypted {
  stored: number
  unreadable: number
}

/** May be interrupted at any time and run again. */
async function reencryptSecrets(
  db: Db,
  schema: string,
  encryption: Encryption,
): Promise<Reencrypted> {
  const total = { stored: 0, unreadable: 0 }
  const { encrypt, isCurrent, seal, isSealed } = encryption
  const groups = [
    { columns: gotrueSecretColumns, isDone: isSealed, store: seal },
    { columns: posternSecretColumns, isDone: isCurrent, store: encrypt },
  ]
  for (const { columns, isDone, store } of groups) {
    for (const where of columns) {
      for await (const found of batches(db, schema, where)) {
        const due = found.filter(({ value }) => !isDone(value))
        const read = due.flatMap((secret) => opened(encryption, secret, where))
        const changed = read.map(({ plain, ...secret }) => ({
          ...secret,
          stored: store(secret.id, plain),
        }))
        await reencryptStored(db, schema, where, changed)
        total.stored += changed.length
        total.unreadable += due.length - changed.length
      }
    }
  }
  return total
}

async function* batches(db: Db, schema: string, where: SecretColumn) {
  let after: string | undefined
  for (;;) {
    const found = await findSecrets(db, schema, where, after, batch)
    const last = found.at(-1)
    if (!last) return
    yield found
    after = last.id
    await pause(pauseMs)
  }
}

/** Undefined for a secret whose key is missing: the others can still be re-encrypted. */
function opened(
  encryption: Encryption,
  { id, value }: StoredSecret,
  { table, column }: SecretColumn,
): (StoredSecret & { plain: string })[] {
  try {
    return [{ id, value, plain: encryption.decrypt(id, value, `${table}.${column}`) }]
  } catch (error) {
    if (error instanceof DecryptionError) return []
    throw error
  }
}

export const encryptionUsage = `npm run keys -- encryption status
npm run keys -- encryption rotate [--write FILE]
npm run keys -- encryption reencrypt`

type Command = (context: CommandContext, file: string | undefined) => Promise<void>

const commands: Record<string, Command> = { status, rotate, reencrypt }

/** Runs the command. Throws an Error with one sentence for the operator. */
export async function runEncryption(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { write: { type: 'string' } },
    allowPositionals: true,
  })
  const [name = '', ...rest] = positionals
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  const isUnconfigured = rest.length > 0 || (values.write !== undefined && name !== 'rotate')
  if (!command || isUnconfigured) throw new Error(`Usage:\n${encryptionUsage}`)
  const ignore = () => {}
  await withContext(ignore, (context) => command(context, values.write))
}

async function status(context: CommandContext): Promise<void> {
  const keys = await usedKeys(context)
  for (const key of keys) {
    console.log([key.id, key.origin.padEnd(26), describeKey(key)].join('  '))
    for (const { place, rows } of key.usage) console.log(`  ${rows} in ${place}`)
  }
  if (keys.some(({ isReadable }) => !isReadable)) {
    throw new Error('Some stored data is encrypted with a key that is not configured here.')
  }
}

function describeKey({ isCurrent, isReadable, mayGo, rows }: UsedKey): string {
  if (!isReadable) return `not configured: ${count(rows)} cannot be decrypted`
  if (isCurrent) return `encrypts: ${count(rows)}`
  if (mayGo) return 'unused: it can be removed'
  return rows === 0 ? 'reads: nothing yet' : `reads: ${count(rows)}`
}

function count(rows: number): string {
  return rows === 1 ? '1 row' : `${rows} rows`
}

async function rotate(context: CommandContext, file: string | undefined): Promise<void> {
  const newKey = () => randomBytes(32).toString('base64url')
  const change = nextChange(context.config, await usedKeys(context), newKey)
  if (file === undefined) console.log(formatVariables(change))
  else await writeVariables(file, change.variables)
  console.error(file === undefined ? change.advice : `${file} is changed. ${change.advice}`)
}

/** The variables as they must be set on every replica. */
function formatVariables({ variables }: ScheduledKeyChange): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')
}

async function reencrypt({ config, db }: CommandContext): Promise<void> {
  const isShared = (await findTakeover(db)).state === 'shared'
  const encryption = configuredEncryption(config, { isShared })
  const { stored, unreadable } = await reencryptSecrets(db, config.AUTH_DB_NAMESPACE, encryption)
  console.log(`${count(stored)} re-encrypted with the current key.`)
  if (unreadable > 0) {
    throw new Error(`${count(unreadable)} could not be decrypted and are unchanged: see status.`)
  }
}

async function usedKeys({ config, db, queueSchema }: CommandContext): Promise<UsedKey[]> {
  return keysInUse(config, await countKeyUsage(db, config.AUTH_DB_NAMESPACE, queueSchema))
}

/** Sets variables in an .env file and removes those without a value; other lines stay unchanged. */
export async function writeVariables(
  file: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  const kept = lines.filter((line) => !(nameIn(line) in variables))
  if (kept.at(-1) === '') kept.pop()
  const set = Object.entries(variables).filter(([, value]) => value !== '')
  const text = [...kept, ...set.map(([name, value]) => `${name}=${value}`), ''].join('\n')
  await replace(file, text)
}

/** Replaced atomically, with the same owner, group and mode. */
async function replace(file: string, text: string): Promise<void> {
  const draft = `${file}.new`
  await rm(draft, { force: true })
  const handle = await open(draft, 'wx', 0o600)
  try {
    const [old, made] = [await stat(file), await handle.stat()]
    if (old.uid !== made.uid || old.gid !== made.gid) await handle.chown(old.uid, old.gid)
    await handle.chmod(old.mode & 0o660)
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(draft, file)
}

function nameIn(line: string): string {
  return /^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1] ?? ''
}
