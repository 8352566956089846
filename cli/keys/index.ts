/** `npm run keys`: manages signing and encryption keys while the server runs. */
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'

import type { JWK } from 'jose'

import type { Config } from '../../config/groups/index.ts'
import type { ApiTokenRow } from '../../db/keys/signing-keys.ts'
import type { AuditAction } from '../../modules/audit/actions.ts'
import { changedKeyFields } from '../../modules/audit/difference.ts'
import type { SigningKeys } from '../../plugins/security/jwt/signing-keys/index.ts'
import { isGeneratedAlgorithm } from '../../plugins/security/jwt/signing-keys/key-material.ts'
import type { RecordKeyChange } from '../../plugins/security/jwt/signing-keys/stored-keys.ts'
import { parseDuration } from '../../schemas/values/duration.ts'
import { auditCommand } from '../shared/audit-command.ts'
import { withSigningKeys } from '../shared/with-signing-keys.ts'
import { encryptionUsage, runEncryption } from './encryption.ts'

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
  /** Writes a change into the audit log. */
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

/** Runs the command. Throws an Error with one sentence for the operator. */
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
    const traits = { command: 'npm run keys', now, kid: change.kid, ...changedKeyFields(change) }
    return auditCommand(trx, config, action, traits)
  }
}

/** One kid in 64 begins with a dash: the argument of `revoke` must not be parsed as an option. */
function withDashedKid(args: readonly string[]): string[] {
  const [name, ...rest] = args
  return name === 'revoke' && !rest.includes('--') ? [name, '--', ...rest] : [...args]
}

async function list(keys: SigningKeys, _request: unknown, now: Date): Promise<void> {
  const rows = await keys.list()
  const pins = await keys.pins(now)
  if (rows.length === 0) console.log('The database has no signing keys.')
  for (const { kid, alg, state, activates_at, retires_at, revoked_at } of rows) {
    const notes = {
      standby: `signs from ${activates_at?.toISOString()}`,
      current: 'signs',
      previous: `verifies until ${retires_at?.toISOString()}`,
      revoked: `revoked ${revoked_at?.toISOString()}`,
    }
    console.log([kid, alg.padEnd(5), state.padEnd(8), notes[state]].join('  '))
    if (state === 'revoked') continue
    for (const token of pins.get(kid) ?? []) console.log(`  ${describeToken(token)}`)
  }
}

/** The key must verify until this token has expired or was replaced. */
function describeToken({ jti, role, expires_at }: ApiTokenRow): string {
  return `needed by token ${jti} of ${role} until ${expires_at?.toISOString()}`
}

async function rotate(keys: SigningKeys, { alg, activateAfter, recordAs }: Request, now: Date) {
  if (alg !== undefined && !isGeneratedAlgorithm(alg)) {
    throw new Error(`--alg ${alg} is unknown: use RS256, ES256 or EdDSA.`)
  }
  await keys.rotate(alg, { activateAfter, record: recordAs('signing_key_rotated') }, now)
  await list(keys, undefined, now)
}

async function revoke(keys: SigningKeys, { operand, recordAs }: Request, now: Date) {
  await keys.revoke(operand, { record: recordAs('signing_key_revoked') }, now)
  await list(keys, undefined, now)
}

async function importFile(keys: SigningKeys, request: Request, now: Date) {
  const { operand, activateAfter, recordAs } = request
  const jwk = parseJwk(await readFile(operand, 'utf8'), operand)
  await keys.importKey(jwk, { activateAfter, record: recordAs('signing_key_imported') }, now)
  await list(keys, undefined, now)
}

function parseJwk(text: string, file: string): JWK {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} contains no JWK: it is not JSON.`)
  }
}

async function exportPublic(keys: SigningKeys, _request: Request, now: Date): Promise<void> {
  console.log(JSON.stringify(keys.ring.publicKeys(now), null, 2))
}
