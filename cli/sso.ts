/** `npm run sso`: manages SAML identity providers while the server runs. */
import { readFile } from 'node:fs/promises'

import {
  findSsoProvider,
  findSsoProviderByResourceId,
  listSsoProviders,
  type SsoProviderRow,
} from '../db/saml/providers.ts'
import { changedFields } from '../modules/audit/difference.ts'
import { createSamlProvider, prepareProvider, removeSamlProvider } from '../modules/saml/index.ts'
import { configuredProxies, createHttpClient } from '../plugins/outgoing/http-client/index.ts'
import { auditedSsoProvider, toSsoProvider } from '../schemas/sso-provider.ts'
import { auditCommand } from './shared/audit-command.ts'
import { type CommandContext, withContext } from './shared/context.ts'

export const usage = `npm run sso -- list
npm run sso -- show ID|resource_X
npm run sso -- add FILE|https://... [DOMAIN...]   the metadata, or their URL
npm run sso -- remove ID|resource_X              its users remain`

type Command = (context: CommandContext, operand: string, rest: readonly string[]) => Promise<void>

const commands: Record<string, Command> = { list, show, add, remove }

/** Runs the command. Throws an Error with one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const [name = '', operand = '', ...rest] = args
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  const isComplete = (operand === '') === (name === 'list') && (name === 'add' || rest.length === 0)
  if (!command || !isComplete) throw new Error(`Usage:\n${usage}`)
  await withContext(console.error, (context) => command(context, operand, rest))
}

async function list({ db }: CommandContext): Promise<void> {
  const rows = await listSsoProviders(db, {})
  if (rows.length === 0) console.log('There is no SSO provider.')
  for (const { id, disabled, entity_id, domains } of rows) {
    console.log([id, disabled ? 'disabled' : 'enabled', entity_id, domains.join()].join('  '))
  }
}

async function show({ db }: CommandContext, name: string): Promise<void> {
  console.log(JSON.stringify(toSsoProvider(await find(db, name)), null, 2))
}

async function add(
  { config, db }: CommandContext,
  source: string,
  domains: readonly string[],
): Promise<void> {
  const metadata = source.includes('://')
    ? { metadata_url: source }
    : { metadata_xml: await readFile(source, 'utf8') }
  const httpClient = createHttpClient({ dev: config.dev, proxy: configuredProxies(config) })
  try {
    const input = {
      type: 'saml',
      ...metadata,
      ...(domains.length > 0 && { domains: [...domains] }),
    }
    const now = new Date()
    const prepared = await prepareProvider({ httpClient }, input, now)
    const { id } = await db.transaction().execute(async (trx) => {
      const created = await createSamlProvider(trx, prepared, now)
      const changes = changedFields(undefined, auditedSsoProvider(created))
      await auditCommand(trx, config, 'sso_provider_created', toAuditTraits(created, changes, now))
      return created
    })
    console.log(`${id} is added.`)
  } finally {
    await httpClient.close()
  }
}

async function remove({ config, db }: CommandContext, name: string): Promise<void> {
  const { id } = await find(db, name)
  const now = new Date()
  await db.transaction().execute(async (trx) => {
    const removed = await removeSamlProvider(trx, id)
    const changes = changedFields(auditedSsoProvider(removed), undefined)
    await auditCommand(trx, config, 'sso_provider_deleted', toAuditTraits(removed, changes, now))
  })
  console.log(`${id} is removed. Its users remain.`)
}

function toAuditTraits({ id }: SsoProviderRow, changes: object, now: Date) {
  return { command: 'npm run sso', now, provider: `sso:${id}`, ...changes }
}

async function find(db: CommandContext['db'], name: string): Promise<SsoProviderRow> {
  const isResource = name.startsWith('resource_')
  const row = isResource
    ? await findSsoProviderByResourceId(db, name.slice('resource_'.length))
    : await findSsoProvider(db, name).catch(() => undefined)
  if (row) return row
  throw new Error(`There is no SSO provider ${name}. See npm run sso -- list.`)
}
