/** The commands: `node cli.ts <command> [arguments]`; npm scripts call it by name. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

import { allowNoHome } from './cli/serve/home-folder.ts'
import { endOnSignals } from './cli/until-signal.ts'

interface Command {
  run(args: readonly string[]): Promise<void>
  /** How it is called, a form a line. */
  usage: string
}

interface Entry {
  /** What it is for. */
  about: string
  /** It ends what it has begun before it ends itself. */
  hearsSignals?: true
  load: () => Promise<Command>
}

const commands: Record<string, Entry> = {
  dev: {
    about: 'a server to develop against',
    hearsSignals: true,
    load: () => import('./cli/dev.ts'),
  },
  serve: { about: 'the server (npm start)', hearsSignals: true, load: () => import('./server.ts') },
  migrate: { about: 'brings the database up to date', load: () => import('./cli/migrate.ts') },
  users: { about: 'imports and exports people', load: () => import('./cli/users.ts') },
  token: { about: 'mints a token for a service', load: () => import('./cli/token.ts') },
  keys: { about: 'looks after the signing keys', load: () => import('./cli/keys.ts') },
  mail: { about: 'shows mail that was not sent', load: () => import('./cli/mail.ts') },
  'mail-preview': {
    about: 'writes all mails as files (npm run mail:preview)',
    load: () => import('./cli/mail-preview.ts'),
  },
  doctor: {
    about: 'holds a deployment against what is around it',
    load: () => import('./cli/doctor.ts'),
  },
  backup: { about: 'writes the database into a file', load: () => import('./cli/backup.ts') },
  restore: {
    about: 'restores such a file into an empty database',
    load: () => import('./cli/restore.ts'),
  },
  takeover: { about: "takes over a GoTrue's database", load: () => import('./cli/takeover.ts') },
  providers: {
    about: 'what to register with Google and others',
    load: () => import('./cli/providers.ts'),
  },
  'config-docs': {
    about: 'writes the reference of the configuration (npm run config:docs)',
    load: () => import('./cli/config-docs.ts'),
  },
  openapi: { about: 'writes docs/openapi.json', load: () => import('./cli/openapi.ts') },
}

const configurationPage =
  'docs/configuration.md explains every variable, and docs/errors.md what goes wrong first.'

const fileProblems: Record<string, string> = {
  ENOENT: 'is not there',
  EACCES: 'is not for this user to read or write',
  EPERM: 'is not for this user to read or write',
  EISDIR: 'is a folder and no file',
  ENOTDIR: 'lies below something that is no folder',
  ENOSPC: 'finds no room: the disk is full',
}

// Stripped types and compiled code are kept, which halves every start but the first. Where they cannot be, all is as before.
enableCompileCache(join(import.meta.dirname, 'node_modules/.cache/compile'))

allowNoHome(process.env)

const [name = '', ...args] = process.argv.slice(2)
const entry = Object.hasOwn(commands, name) ? commands[name] : undefined

if (entry) {
  if (!entry.hearsSignals) endOnSignals()
  const { run, usage } = await entry.load().catch((error) => end(missingPackage(error)))
  if (asksForHelp(args)) console.log(usage)
  else await run(args).catch((error) => end(explain(error, usage)))
} else if (asksForHelp([name])) {
  console.log(overview())
} else {
  end(`${name === '' ? 'Which command?' : `There is no command ${name}.`}\n\n${overview()}`)
}

function end(message: unknown): never {
  console.error(message)
  process.exit(1)
}

/** What follows `--` is for the command itself. */
function asksForHelp(given: readonly string[]): boolean {
  const end = given.indexOf('--')
  const options = end === -1 ? given : given.slice(0, end)
  return options.some((option) => option === '--help' || option === '-h')
}

function overview(): string {
  const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(14)}${about}`)
  return `node cli.ts COMMAND [ARGUMENTS], or npm run COMMAND -- [ARGUMENTS]

${lines.join('\n')}

Each says more with --help.`
}

/** One sentence for what the operator can mend; the whole stack for a mistake of ours. */
function explain(error: unknown, usage: string): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code.startsWith('ERR_PARSE_ARGS')) return `${error.message}\n\nUsage:\n${usage}`
  if (error instanceof AggregateError) return error.errors.map(String).join('\n')
  if (error instanceof TypeError || error instanceof ReferenceError) return error
  if (error.name === 'ConfigError') return `${error.message}\n${configurationPage}`
  return fileProblem(error, code) ?? (error.message || error.name)
}

/** Somebody forgot to install what package.json names, or left out what is for development. */
function missingPackage(error: unknown): unknown {
  const isMissing =
    error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'
  const name = isMissing ? /^Cannot find package '([^']+)'/.exec(error.message)?.[1] : undefined
  if (name === undefined) return error
  return `The package ${name} is not installed: run npm ci (npm run dev needs it without --omit=dev).`
}

/** What keeps a file from being used, in words. */
function fileProblem(error: Error, code: string): string | undefined {
  const problem = fileProblems[code]
  const isAboutFile = problem !== undefined && 'path' in error && typeof error.path === 'string'
  return isAboutFile ? `${error.path} ${problem}.` : undefined
}
