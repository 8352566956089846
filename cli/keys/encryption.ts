/** `npm run keys -- encryption`: key usage, the next step of a key rotation, and re-encryption with the current key. */
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'

import { findTakeover } from '../../db/gotrue/takeover.ts'
import { countKeyUsage } from '../../db/keys/key-usage.ts'
import { configuredEncryption } from '../../plugins/security/encryption/index.ts'
import { type CommandContext, withContext } from '../shared/context.ts'
import { nextChange, type ScheduledKeyChange } from './next-change.ts'
import { reencryptSecrets } from './reencrypt.ts'
import { keysInUse, type UsedKey } from './used-keys.ts'
import { writeVariables } from './write-variables.ts'

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
