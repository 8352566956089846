/** `npm run scim`: manages SCIM connections and their tokens while the server runs. */
import { listScimConnections, listScimTokens } from '../db/scim/connections.ts'
import {
  createScimConnection,
  endScimToken,
  issueScimToken,
  removeScimConnection,
  requireScimConnection,
} from '../modules/scim/index.ts'
import { scimBase } from '../schemas/scim/connection.ts'
import { parseDuration } from '../schemas/values/duration.ts'
import { auditCommand } from './shared/audit-command.ts'
import { type CommandContext, withContext } from './shared/context.ts'

export const usage = `npm run scim -- list
npm run scim -- add NAME organization|provider ID   for an organization or a SAML provider
npm run scim -- remove CONNECTION                   the accounts of its users stay
npm run scim -- tokens CONNECTION
npm run scim -- token CONNECTION NAME [DURATION]    prints a new token, such as for 8760h
npm run scim -- revoke CONNECTION TOKEN             by the id of the token`

type Command = (context: CommandContext, args: readonly string[]) => Promise<void>

/** The commands, with the number of arguments of each. */
const commands: Record<string, { minOperands: number; maxOperands: number; act: Command }> = {
  list: { minOperands: 0, maxOperands: 0, act: list },
  add: { minOperands: 3, maxOperands: 3, act: add },
  remove: { minOperands: 1, maxOperands: 1, act: remove },
  tokens: { minOperands: 1, maxOperands: 1, act: tokens },
  token: { minOperands: 2, maxOperands: 3, act: token },
  revoke: { minOperands: 2, maxOperands: 2, act: revoke },
}

/** Runs the command. Throws an Error with one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const [name = '', ...rest] = args
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command || rest.length < command.minOperands || rest.length > command.maxOperands) {
    throw new Error(`Usage:\n${usage}`)
  }
  await withContext(console.error, (context) => command.act(context, rest))
}

async function list({ config, db }: CommandContext): Promise<void> {
  const rows = await listScimConnections(db)
  if (rows.length === 0) console.log('There is no SCIM connection.')
  for (const { sso_provider_id: id, enabled, name } of rows) {
    const address = scimBase(config.AUTH_API_EXTERNAL_URL, id)
    console.log([id, enabled ? 'enabled' : 'disabled', name, address].join('  '))
  }
}

async function add(
  { config, db }: CommandContext,
  [name = '', kind, id = '']: readonly string[],
): Promise<void> {
  if (kind !== 'organization' && kind !== 'provider') throw new Error(`Usage:\n${usage}`)
  const target = kind === 'organization' ? { organization_id: id } : { sso_provider_id: id }
  const now = new Date()
  const made = await db.transaction().execute(async (trx) => {
    const created = await createScimConnection(trx, { name, ...target }, now)
    const traits = toAuditTraits(created.sso_provider_id, now, { after: { name } })
    await auditCommand(trx, config, 'scim_connection_created', traits)
    return created
  })
  const { sso_provider_id } = made
  console.log(
    `${sso_provider_id} is added: ${scimBase(config.AUTH_API_EXTERNAL_URL, sso_provider_id)}`,
  )
}

async function remove({ config, db }: CommandContext, [id = '']: readonly string[]): Promise<void> {
  const now = new Date()
  await db.transaction().execute(async (trx) => {
    const { name } = await removeScimConnection(trx, id)
    const traits = toAuditTraits(id, now, { before: { name } })
    await auditCommand(trx, config, 'scim_connection_deleted', traits)
  })
  console.log(`${id} is removed. The accounts of its users stay.`)
}

async function tokens({ db }: CommandContext, [id = '']: readonly string[]): Promise<void> {
  await requireScimConnection(db, id)
  const rows = await listScimTokens(db, id)
  if (rows.length === 0) console.log('The connection has no token.')
  for (const row of rows) {
    const used = row.last_used_at?.toISOString() ?? 'never used'
    console.log([row.id, `${row.prefix}…`, describeState(row), used, row.name].join('  '))
  }
}

function describeState({
  revoked_at,
  expires_at,
}: {
  revoked_at: Date | null
  expires_at: Date | null
}) {
  if (revoked_at) return 'revoked'
  return expires_at ? `valid until ${expires_at.toISOString()}` : 'valid'
}

async function token(
  { config, db }: CommandContext,
  [id = '', name = '', duration]: readonly string[],
): Promise<void> {
  const now = new Date()
  const seconds = duration === undefined ? undefined : parseDuration(duration)
  const expiresAt = seconds === undefined ? null : new Date(now.getTime() + seconds * 1000)
  const issued = await db.transaction().execute(async (trx) => {
    await requireScimConnection(trx, id)
    const made = await issueScimToken(trx, id, { name, expiresAt }, now)
    const traits = toAuditTraits(id, now, { token_id: made.id, after: { name } })
    await auditCommand(trx, config, 'scim_token_issued', traits)
    return made
  })
  console.log(issued.token)
}

async function revoke(
  { config, db }: CommandContext,
  [connectionId = '', id = '']: readonly string[],
): Promise<void> {
  const now = new Date()
  await db.transaction().execute(async (trx) => {
    await endScimToken(trx, { connectionId, id }, now)
    await auditCommand(
      trx,
      config,
      'scim_token_revoked',
      toAuditTraits(connectionId, now, { token_id: id }),
    )
  })
  console.log(`${id} is revoked.`)
}

function toAuditTraits(connection_id: string, now: Date, more: object) {
  return { command: 'npm run scim', now, connection_id, ...more }
}
