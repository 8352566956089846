/** `npm run token`: creates, lists and revokes tokens of services (`service_role`) and of public clients (`anon`). */
import { parseArgs } from 'node:util'

import { decodeJwt } from 'jose'

import type { Config } from '../config/groups/index.ts'
import type { Db } from '../db/core/database.ts'
import {
  type ApiTokenRow,
  insertApiToken,
  listApiTokens,
  notify,
  revokeApiToken,
} from '../db/keys/signing-keys.ts'
import { createJwt } from '../plugins/security/jwt/index.ts'
import type { SigningKeys } from '../plugins/security/jwt/signing-keys/index.ts'
import { signingKeysChannel } from '../plugins/security/jwt/signing-keys/stored-keys.ts'
import { parseDuration } from '../schemas/values/duration.ts'
import { nearestName } from '../schemas/values/nearest-name.ts'
import { auditCommand } from './shared/audit-command.ts'
import { withSigningKeys } from './shared/with-signing-keys.ts'

export const usage = `npm run token -- --role service_role [--exp 90d] [--sub UUID]
npm run token -- list
npm run token -- revoke JTI|TOKEN`

/** A leaked token is valid until it expires or is revoked: longer lifetimes have to be requested. */
const defaultLifetime = '90d'

const knownRoles = ['service_role', 'anon', 'authenticated']

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
  const nearest = nearestName(role, knownRoles)
  if (nearest !== undefined && nearest !== role) {
    console.error(`The role of this token is ${role}; did you mean ${nearest}?`)
  }
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

/**
 * Every replica applies it immediately, or within seconds without notifications. Other programs may have issued the
 * token, so an unknown id is revoked too.
 */
async function revoke({ config, db }: Context, given: string): Promise<void> {
  const jti = given.startsWith('ey') ? idIn(given) : given
  const now = new Date()
  const isKnown = (await listApiTokens(db, now)).some((token) => token.jti === jti)
  if (!(await revokeApiToken(db, jti, now))) throw new Error(`The token ${jti} is already revoked.`)
  await notify(db, signingKeysChannel)
  await auditCommand(db, config, 'api_token_revoked', { command: 'npm run token', now, jti })
  await list(db)
  if (isKnown) return
  console.error(
    `This server issued no valid token with the id ${jti}. If it is a typing error, revoke one of the list.`,
  )
}

function idIn(token: string): string {
  const { jti } = decodeJwt(token)
  if (jti !== undefined) return jti
  throw new Error(
    'This token has no id (jti): revoke the key that signed it (npm run keys -- revoke).',
  )
}

/** In seconds. */
function parseLifetime(text: string): number {
  const seconds = parseDuration(text)
  if (seconds < 1) {
    throw new Error(`--exp ${text} is too short: the minimum is one second.`)
  }
  return seconds
}
