/** The commands: `node cli.ts <command> [arguments]`; npm scripts call it by name. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

type Command = (args: readonly string[]) => Promise<void>

const commands: Record<string, () => Promise<{ run: Command }>> = {
  serve: () => import('./server.ts'),
  dev: () => import('./cli/dev.ts'),
  migrate: () => import('./cli/migrate.ts'),
  keys: () => import('./cli/keys.ts'),
  token: () => import('./cli/token.ts'),
  mail: () => import('./cli/mail.ts'),
  takeover: () => import('./cli/takeover.ts'),
  users: () => import('./cli/users.ts'),
  'mail-preview': () => import('./cli/mail-preview.ts'),
  'config-docs': () => import('./cli/config-docs.ts'),
  openapi: () => import('./cli/openapi.ts'),
}

// Stripped types and compiled code are kept, which halves every start but the first. Where they cannot be, all is as before.
enableCompileCache(join(import.meta.dirname, 'node_modules/.cache/compile'))

const [name = '', ...args] = process.argv.slice(2)
const load = Object.hasOwn(commands, name) ? commands[name] : undefined

if (load) {
  try {
    const { run } = await load()
    await run(args)
  } catch (error) {
    console.error(explain(error))
    process.exit(1)
  }
} else {
  console.error(`Unknown command ${name}. Known: ${Object.keys(commands).join(', ')}`)
  process.exit(1)
}

/** One sentence for what the operator can mend; the whole stack for a mistake of ours. */
function explain(error: unknown): unknown {
  if (!(error instanceof Error) || isBug(error)) return error
  if (error instanceof AggregateError) return error.errors.map(String).join('\n')
  return error.message || error.name
}

function isBug(error: Error): boolean {
  return error instanceof TypeError || error instanceof ReferenceError
}
