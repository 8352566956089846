/** `npm run providers`: shows what to register with a provider and what to configure. */
import { readFile } from 'node:fs/promises'

import { Value } from '@sinclair/typebox/value'

import { variables } from '../config/groups/index.ts'
import { providerSettings } from '../config/groups/provider-settings.ts'
import { lookUp } from '../config/names.ts'
import { readConfig } from '../config/read-config.ts'
import { callbackUrl } from '../config/rules/redirect-notices.ts'
import {
  type CustomProviderRow,
  findCustomProvider,
  listCustomProviders,
} from '../db/custom-providers/providers.ts'
import { findTakeover } from '../db/gotrue/takeover.ts'
import { changedFields } from '../modules/audit/difference.ts'
import {
  createCustomProvider,
  prepareNew,
  removeCustomProvider,
} from '../modules/custom-providers/index.ts'
import { configuredProxies, createHttpClient } from '../plugins/outgoing/http-client/index.ts'
import { providerNames } from '../providers/registry.ts'
import {
  auditedCustomProvider,
  CustomProviderInput,
  toCustomProvider,
} from '../schemas/custom-provider.ts'
import { customCallbackUrl } from '../schemas/values/callback-urls.ts'
import { auditCommand } from './shared/audit-command.ts'
import { type CommandContext, commandEnvironment, withContext } from './shared/context.ts'

/** `npm run providers -- list|show|add|remove`: manages custom providers in the database while the server runs. */
const customUsage = `npm run providers -- list               those added at run time
npm run providers -- show custom:x
npm run providers -- add FILE           a JSON object as for POST /admin/custom-providers; - for the standard input
npm run providers -- remove custom:x    its users remain`

const customCommands = ['list', 'show', 'add', 'remove']

type Command = (context: CommandContext, operand: string) => Promise<void>

const commands: Record<string, Command> = { list, show, add, remove }

/** Throws an Error with one sentence for the operator. */
async function runCustom(name: string, operands: readonly string[]): Promise<void> {
  const command = commands[name]
  const [operand = '', ...rest] = operands
  if (!command || rest.length > 0 || (operand === '') !== (name === 'list')) {
    throw new Error(`Usage:\n${customUsage}`)
  }
  await withContext(console.error, (context) => command(context, operand))
}

async function list({ db }: CommandContext): Promise<void> {
  const rows = await listCustomProviders(db)
  if (rows.length === 0) console.log('No provider was added at run time.')
  for (const row of rows) {
    const { identifier, provider_type, enabled, name, own_callback, organization_bound } = row
    const shared = own_callback ? [] : ['shares its redirect URI']
    const bound = organization_bound ? ['of an organization'] : []
    const state = enabled ? 'enabled' : 'disabled'
    console.log([identifier, provider_type, state, name, ...shared, ...bound].join('  '))
  }
}

async function show({ config, db }: CommandContext, identifier: string): Promise<void> {
  const row = await findCustomProvider(db, identifier)
  if (!row) {
    throw new Error(`There is no provider ${identifier}. See npm run providers -- list.`)
  }
  console.log(JSON.stringify(toCustomProvider(row, config), null, 2))
}

async function add({ config, db, encryption }: CommandContext, file: string): Promise<void> {
  const input = await readInput(file)
  const httpClient = createHttpClient({ dev: config.dev, proxy: configuredProxies(config) })
  try {
    const prepared = await prepareNew({ httpClient }, input)
    const now = new Date()
    const gotrueMigration = { isShared: (await findTakeover(db)).state === 'shared' }
    const deps = { config, encryption, gotrueMigration }
    const row = await db.transaction().execute(async (trx) => {
      const created = await createCustomProvider(deps, trx, prepared, now)
      const changes = changedFields(undefined, auditedCustomProvider(created))
      await auditCommand(
        trx,
        config,
        'custom_provider_created',
        toAuditTraits(created, changes, now),
      )
      return created
    })
    console.log(`${row.identifier} is added. Sign in with provider=${row.identifier}.

Register exactly this redirect URI at the provider:

  ${customCallbackUrl(config, row)}`)
  } finally {
    await httpClient.close()
  }
}

async function remove({ config, db }: CommandContext, identifier: string): Promise<void> {
  const now = new Date()
  await db.transaction().execute(async (trx) => {
    const removed = await removeCustomProvider(trx, identifier)
    const changes = changedFields(auditedCustomProvider(removed), undefined)
    await auditCommand(trx, config, 'custom_provider_deleted', toAuditTraits(removed, changes, now))
  })
  console.log(`${identifier} is removed. Its users remain.`)
}

function toAuditTraits({ identifier }: CustomProviderRow, changes: object, now: Date) {
  return { command: 'npm run providers', now, provider: identifier, ...changes }
}

/** Reads a file, so that the secret is in no process list and no shell history. */
async function readInput(file: string): Promise<CustomProviderInput> {
  const text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8')
  const input: unknown = parse(text, file)
  if (Value.Check(CustomProviderInput, input)) return input
  const [first] = Value.Errors(CustomProviderInput, input)
  throw new Error(`${file}: ${first?.path || 'the content'} ${first?.message ?? 'is no provider'}`)
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is not JSON`)
  }
}

export const usage = `npm run providers            which are enabled, and the redirect URI to register with them
npm run providers -- NAME    the same for one, with the variables to set
${customUsage}`

/** Runs the command. Throws an Error with one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const [name, ...rest] = args
  if (name !== undefined && customCommands.includes(name)) return runCustom(name, rest)
  if (rest.length > 0) throw new Error(`Usage:\n${usage}`)
  const { env, dev } = commandEnvironment()
  // Works before the configuration is complete.
  if (!dev && lookUp(env, 'AUTH_API_EXTERNAL_URL', variables.AUTH_API_EXTERNAL_URL) === undefined) {
    throw new Error(
      'The URL of this server is unknown: start `npm run dev` in this folder, or set AUTH_API_EXTERNAL_URL.',
    )
  }
  const config = readConfig(env, { dev, warn: (notice) => console.error(notice) })
  console.log(`Register exactly this redirect URI with the provider:\n\n  ${callbackUrl(config)}\n`)
  if (name !== undefined) {
    return console.log(describeSettings(name.toLowerCase(), callbackUrl(config)))
  }
  const on = providerNames.filter((each) => providerSettings(config, each).enabled)
  console.log(on.length === 0 ? 'No provider is enabled.' : `Enabled: ${on.join(', ')}.`)
  console.log(`Known: ${providerNames.join(', ')}.`)
}

function describeSettings(name: string, callback: string): string {
  const known = providerNames.find((each) => each === name)
  if (known === undefined) {
    throw new Error(`${name} is not a known provider. Known: ${providerNames.join(', ')}.`)
  }
  const prefix = `AUTH_EXTERNAL_${known.toUpperCase()}`
  return `Then put the values from the provider into .env, and restart:

  ${prefix}_ENABLED=true
  ${prefix}_CLIENT_ID=
  ${prefix}_SECRET=
  ${prefix}_REDIRECT_URI=${callback}

docs/providers.md has the steps for ${known}; docs/external-sign-in.md describes the sign-in.`
}
