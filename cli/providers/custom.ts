/** `npm run providers -- list|show|add|remove`: manages custom providers in the database while the server runs. */
import { readFile } from 'node:fs/promises'

import { Value } from '@sinclair/typebox/value'

import {
  type CustomProviderRow,
  findCustomProvider,
  listCustomProviders,
} from '../../db/custom-providers/providers.ts'
import { changedFields } from '../../modules/audit/difference.ts'
import {
  createCustomProvider,
  prepareNew,
  removeCustomProvider,
} from '../../modules/custom-providers/index.ts'
import { configuredProxies, createHttpClient } from '../../plugins/outgoing/http-client/index.ts'
import {
  auditedCustomProvider,
  CustomProviderInput,
  toCustomProvider,
} from '../../schemas/custom-provider.ts'
import { auditCommand } from '../shared/audit-command.ts'
import { type CommandContext, withContext } from '../shared/context.ts'

export const customUsage = `npm run providers -- list               those added at run time
npm run providers -- show custom:x
npm run providers -- add FILE           a JSON object as for POST /admin/custom-providers; - for the standard input
npm run providers -- remove custom:x    its users remain`

export const customCommands = ['list', 'show', 'add', 'remove']

type Command = (context: CommandContext, operand: string) => Promise<void>

const commands: Record<string, Command> = { list, show, add, remove }

/** Throws an Error with one sentence for the operator. */
export async function runCustom(name: string, operands: readonly string[]): Promise<void> {
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
  for (const { identifier, provider_type, enabled, name } of rows) {
    console.log([identifier, provider_type, enabled ? 'enabled' : 'disabled', name].join('  '))
  }
}

async function show({ db }: CommandContext, identifier: string): Promise<void> {
  const row = await findCustomProvider(db, identifier)
  if (!row) {
    throw new Error(`There is no provider ${identifier}. See npm run providers -- list.`)
  }
  console.log(JSON.stringify(toCustomProvider(row), null, 2))
}

async function add({ config, db, encryption }: CommandContext, file: string): Promise<void> {
  const input = await readInput(file)
  const httpClient = createHttpClient({ dev: config.dev, proxy: configuredProxies(config) })
  try {
    const prepared = await prepareNew({ httpClient }, input)
    const now = new Date()
    const row = await db.transaction().execute(async (trx) => {
      const created = await createCustomProvider({ config, encryption }, trx, prepared, now)
      const changes = changedFields(undefined, auditedCustomProvider(created))
      await auditCommand(
        trx,
        config,
        'custom_provider_created',
        toAuditTraits(created, changes, now),
      )
      return created
    })
    console.log(`${row.identifier} is added. Sign in with provider=${row.identifier}.`)
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
