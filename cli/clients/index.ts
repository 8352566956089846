/** `npm run clients`: manages OAuth clients. */
import { parseArgs } from 'node:util'

import { listClients } from '../../db/oauth-server/clients.ts'
import {
  createClient,
  deleteClient,
  endClientSessions,
  lockAndGetClient,
  readClientId,
  regenerateSecret,
  showClient,
  toClient,
} from '../../modules/oauth-server/index.ts'
import type { NewOauthClient } from '../../schemas/oauth/client.ts'
import { auditCommand, commandEvents } from '../shared/audit-command.ts'
import { type CommandContext, withContext } from '../shared/context.ts'

export const usage = `npm run clients -- list
npm run clients -- create --name NAME --redirect URL [--redirect URL] [--public] [--auth METHOD] [--no-pkce]
    [--grant TYPE] [--scope SCOPE] [--resource URL] [--logout URL]
npm run clients -- show CLIENT_ID
npm run clients -- regenerate-secret CLIENT_ID [--keep-sessions]
npm run clients -- delete CLIENT_ID`

const options = {
  name: { type: 'string' },
  redirect: { type: 'string', multiple: true },
  public: { type: 'boolean' },
  auth: { type: 'string' },
  'no-pkce': { type: 'boolean' },
  grant: { type: 'string', multiple: true },
  scope: { type: 'string' },
  resource: { type: 'string', multiple: true },
  logout: { type: 'string', multiple: true },
  'keep-sessions': { type: 'boolean' },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']
type Command = (context: CommandContext, operand: string, values: Values) => Promise<void>

const commands: Record<string, { hasOperand: boolean; run: Command }> = {
  list: { hasOperand: false, run: list },
  create: { hasOperand: false, run: create },
  show: { hasOperand: true, run: show },
  'regenerate-secret': { hasOperand: true, run: regenerate },
  delete: { hasOperand: true, run: remove },
}

const command = 'npm run clients'

/** Runs the command. Throws an Error with one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [name = '', operand = '', ...rest] = positionals
  const found = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!found || rest.length > 0 || found.hasOperand !== (operand !== '')) {
    throw new Error(`Usage:\n${usage}`)
  }
  const ignore = () => {}
  await withContext(ignore, (context) => found.run(context, operand, values))
}

async function list({ db }: CommandContext): Promise<void> {
  const { clients, total } = await listClients(db, { limit: 1000, offset: 0 })
  for (const { clientId, type, name, redirectUris } of clients.map(toClient)) {
    console.log([clientId, type.padEnd(12), name ?? '', redirectUris.join(' ')].join('  '))
  }
  console.log(total === 1 ? '1 client' : `${total} clients`)
}

async function show({ db }: CommandContext, operand: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    print(showClient(await lockAndGetClient(trx, readClientId(operand))))
  })
}

async function create({ config, db }: CommandContext, _: string, values: Values): Promise<void> {
  if (!values.name?.trim()) {
    throw new Error('Give the client a name: --name NAME. The consent page shows it to users.')
  }
  const now = new Date()
  const made = await db.transaction().execute(async (trx) => {
    const created = await createClient({ config }, trx, toClientFields(values), 'manual', now)
    const traits = { command, now, client_id: created.client.id }
    await auditCommand(trx, config, 'oauth_client_created', traits)
    return created
  })
  const { client, secret } = made
  print({ ...showClient(client), ...(secret && { client_secret: secret }) })
  if (secret) console.error('The secret is only shown now: store it.')
}

function toClientFields(values: Values): NewOauthClient {
  const { name, redirect = [], auth, scope, grant, resource, logout } = values
  return {
    redirect_uris: redirect,
    ...(name !== undefined && { client_name: name }),
    ...(auth !== undefined && { token_endpoint_auth_method: auth }),
    ...(values.public && { token_endpoint_auth_method: 'none' }),
    ...(values['no-pkce'] && { require_pkce: false }),
    ...(grant && { grant_types: grant }),
    ...(scope !== undefined && { scope }),
    ...(resource && { resources: resource }),
    ...(logout && { post_logout_redirect_uris: logout }),
  }
}

async function regenerate(
  { config, db }: CommandContext,
  operand: string,
  values: Values,
): Promise<void> {
  const now = new Date()
  const id = readClientId(operand)
  const secret = await db.transaction().execute(async (trx) => {
    const client = await lockAndGetClient(trx, id)
    const made = await regenerateSecret(trx, client, now)
    if (!values['keep-sessions']) {
      await endClientSessions({ events: commandEvents(config) }, trx, { client_id: id }, now)
    }
    const traits = { command, now, client_id: id }
    await auditCommand(trx, config, 'oauth_client_secret_regenerated', traits)
    return made
  })
  print({ client_id: id, client_secret: secret })
}

async function remove({ config, db }: CommandContext, operand: string): Promise<void> {
  const now = new Date()
  const id = readClientId(operand)
  await db.transaction().execute(async (trx) => {
    const client = await lockAndGetClient(trx, id)
    await deleteClient({ events: commandEvents(config) }, trx, client, now)
    await auditCommand(trx, config, 'oauth_client_deleted', { command, now, client_id: id })
  })
  console.log(`${id} is deleted, and its sessions are revoked.`)
}

function print(value: object): void {
  console.log(JSON.stringify(value, undefined, 2))
}
