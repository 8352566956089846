/** `npm run keys`: looks after the keys that sign access tokens, and those that encrypt, while the server runs. */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'

import type { JWK } from 'jose'

import { keyDifference } from '../plugins/accounts/audit/difference.ts'
import type { AuditAction } from '../plugins/accounts/audit/entry.ts'
import type { Config } from '../plugins/config/config.ts'
import type { RecordKeyChange } from '../plugins/jwt/signing-keys/key-change.ts'
import { isGeneratedAlgorithm } from '../plugins/jwt/signing-keys/key-material.ts'
import type { SigningKeys } from '../plugins/jwt/signing-keys.ts'
import { parseDuration } from '../schemas/duration.ts'
import { auditCommand } from './audit-command.ts'
import { encryptionUsage, runEncryption } from './keys/encryption.ts'
import { withSigningKeys } from './with-signing-keys.ts'

export const usage = `npm run keys -- list
npm run keys -- rotate [--alg RS256|ES256|EdDSA] [--after 15m]
npm run keys -- revoke KID
npm run keys -- import FILE [--after 15m]
npm run keys -- export-public
${encryptionUsage}`

interface Request {
  operand: string
  alg: string | undefined
  /** Seconds until a new key signs. */
  activateAfter: number | undefined
  /** Writes a change into the audit trail. */
  recordAs(action: AuditAction): RecordKeyChange
}

type Command = (keys: SigningKeys, request: Request, now: Date) => Promise<void>

const commands: Record<string, { operand?: string; run: Command }> = {
  list: { run: list },
  rotate: { run: rotate },
  revoke: { operand: 'KID', run: revoke },
  import: { operand: 'FILE', run: importFile },
  'export-public': { run: exportPublic },
}

/** The command. Throws an Error that is one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  if (args[0] === 'encryption') return runEncryption(args.slice(1))
  const { values, positionals } = parseArgs({
    args: withDashedKid(args),
    options: { alg: { type: 'string' }, after: { type: 'string' } },
    allowPositionals: true,
  })
  const [name = '', operand = '', ...rest] = positionals
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  const isComplete = command && (operand !== '') === (command.operand !== undefined)
  if (!isComplete || rest.length > 0) throw new Error(`Usage:\n${usage}`)
  const { alg, after } = values
  const activateAfter = after === undefined ? undefined : parseDuration(after)
  const now = new Date()
  await withSigningKeys((keys, { config }) => {
    const recordAs = createRecord(config, now)
    return command.run(keys, { operand, alg, activateAfter, recordAs }, now)
  })
}

function createRecord(config: Config, now: Date): Request['recordAs'] {
  return (action) => (trx, change) => {
    const traits = { command: 'npm run keys', now, kid: change.kid, ...keyDifference(change) }
    return auditCommand(trx, config, action, traits)
  }
}

/** One kid in 64 begins with a dash: what follows `revoke` is no option. */
function withDashedKid(args: readonly string[]): string[] {
  const [name, ...rest] = args
  return name === 'revoke' && !rest.includes('--') ? [name, '--', ...rest] : [...args]
}

async function list(keys: SigningKeys): Promise<void> {
  const rows = await keys.list()
  if (rows.length === 0) console.log('The database holds no signing keys.')
  for (const { kid, alg, state, activates_at, retires_at, revoked_at } of rows) {
    const notes = {
      standby: `signs from ${activates_at?.toISOString()}`,
      current: 'signs',
      previous: `verifies until ${retires_at?.toISOString()}`,
      revoked: `revoked ${revoked_at?.toISOString()}`,
    }
    console.log([kid, alg.padEnd(5), state.padEnd(8), notes[state]].join('  '))
  }
}

async function rotate(keys: SigningKeys, { alg, activateAfter, recordAs }: Request, now: Date) {
  if (alg !== undefined && !isGeneratedAlgorithm(alg)) {
    throw new Error(`--alg ${alg} is unknown: use RS256, ES256 or EdDSA.`)
  }
  await keys.rotate(alg, { activateAfter, record: recordAs('signing_key_rotated') }, now)
  await list(keys)
}

async function revoke(keys: SigningKeys, { operand, recordAs }: Request, now: Date) {
  await keys.revoke(operand, { record: recordAs('signing_key_revoked') }, now)
  await list(keys)
}

async function importFile(keys: SigningKeys, request: Request, now: Date) {
  const { operand, activateAfter, recordAs } = request
  const jwk = parseJwk(await readFile(operand, 'utf8'), operand)
  await keys.importKey(jwk, { activateAfter, record: recordAs('signing_key_imported') }, now)
  await list(keys)
}

function parseJwk(text: string, file: string): JWK {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} does not hold a JWK: it is not JSON.`)
  }
}

async function exportPublic(keys: SigningKeys, _request: Request, now: Date): Promise<void> {
  console.log(JSON.stringify(keys.ring.publicKeys(now), null, 2))
}
