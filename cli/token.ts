/** `npm run token`: creates, lists and revokes tokens of services (`service_role`) and of public clients (`anon`). */
import { parseArgs } from 'node:util'

import type { Config } from '../config/groups/index.ts'
import type { Db } from '../db/core/database.ts'
import {
  type ApiTokenRow,
  insertApiToken,
  listApiTokens,
  revokeApiToken,
} from '../db/keys/api-tokens.ts'
import { notify } from '../db/keys/signing-keys.ts'
import { createJwt } from '../plugins/security/jwt/index.ts'
import type { SigningKeys } from '../plugins/security/jwt/signing-keys/index.ts'
import { signingKeysChannel } from '../plugins/security/jwt/signing-keys/stored-keys.ts'
import { parseDuration } from '../schemas/values/duration.ts'
import { auditCommand } from './shared/audit-command.ts'
import { withSigningKeys } from './shared/with-signing-keys.ts'

export const usage = `npm run token -- --role service_role [--exp 90d] [--sub UUID]
npm run token -- list
npm run token -- revoke JTI`

/** A leaked token is valid until it expires or is revoked: longer lifetimes have to be requested. */
const defaultLifetime = '90d'

interface Context {
  config: Config
  db: Db
}

/** Throws an Error with one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: {
      role: { type: 'string' },
      exp: { type: 'string', default: defaultLifetime },
      sub: { type: 'string' },
    },
    allowPositionals: true,
  })
  const [action, jti, ...rest] = positionals
  const { role, sub } = values
  const seconds = parseLifetime(values.exp)
  if (action === undefined && role) {
    return withSigningKeys((keys, context) => issue(keys, context, { role, sub, seconds }))
  }
  const isComplete = rest.length === 0 && (action === 'revoke') === (jti !== undefined)
  if (action === 'list' && isComplete) return withSigningKeys((_keys, { db }) => list(db))
  if (action === 'revoke' && jti !== undefined && isComplete) {
    return withSigningKeys((_keys, context) => revoke(context, jti))
  }
  throw new Error(`Usage:\n${usage}`)
}

interface Request {
  role: string
  sub: string | undefined
  seconds: number
}

/** Prints only the token. */
async function issue(signingKeys: SigningKeys, { config, db }: Context, request: Request) {
  const { role, sub, seconds } = request
  const jwt = createJwt({ signingKeys, config })
  const now = new Date()
  const jti = crypto.randomUUID()
  const expiresAt = new Date(now.getTime() + seconds * 1000)
  const { kid = null } = signingKeys.ring.signing
  const token = await jwt.signApiToken({ role, sub, seconds, jti }, now)
  await insertApiToken(db, { jti, kid, role, sub: sub ?? null, expires_at: expiresAt }, now)
  const expires_at = expiresAt.toISOString()
  const traits = { command: 'npm run token', now, jti, role, sub: sub ?? '', expires_at }
  await auditCommand(db, config, 'api_token_issued', traits)
  console.log(token)
}

async function list(db: Db): Promise<void> {
  const tokens = await listApiTokens(db, new Date())
  if (tokens.length === 0) console.log('No issued token is valid any more.')
  for (const token of tokens) console.log(formatToken(token))
}

function formatToken({ jti, role, expires_at, revoked_at, kid }: ApiTokenRow): string {
  const end = expires_at === null ? 'of unknown end' : `until ${expires_at.toISOString()}`
  const state = revoked_at === null ? end : `revoked ${revoked_at.toISOString()}`
  return [jti, (role ?? 'unknown role').padEnd(12), state, ...(kid ? [`key ${kid}`] : [])].join(
    '  ',
  )
}

/** Every replica applies it immediately, or within seconds without notifications. */
async function revoke({ config, db }: Context, jti: string): Promise<void> {
  const now = new Date()
  if (!(await revokeApiToken(db, jti, now))) throw new Error(`The token ${jti} is already revoked.`)
  await notify(db, signingKeysChannel)
  await auditCommand(db, config, 'api_token_revoked', { command: 'npm run token', now, jti })
  await list(db)
}

/** In seconds. */
function parseLifetime(text: string): number {
  const seconds = parseDuration(text)
  if (seconds < 1) {
    throw new Error(`--exp ${text} is too short: the minimum is one second.`)
  }
  return seconds
}
