/** Command line: `node cli.ts COMMAND [ARGUMENTS]`, also called by the npm scripts. */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

import type { Config } from './config/groups/index.ts'
import { allowNoHome } from './server/home-folder.ts'
import { endOnSignals } from './server/until-signal.ts'
import { version } from './version.ts'

interface Command {
  run(args: readonly string[]): Promise<void>
  /** One line per form of the command. */
  usage: string
}

interface Entry {
  /** Short description in the overview. */
  about: string
  /** Handles SIGINT and SIGTERM itself. */
  handlesSignals?: true
  /** It serves requests, which may be traced. */
  isTraced?: true
  load: () => Promise<Command>
}

const commands: Record<string, Entry> = {
  dev: {
    about: 'starts a development server',
    handlesSignals: true,
    isTraced: true,
    load: () => import('./cli/dev/index.ts'),
  },
  serve: {
    about: 'the server (npm start)',
    handlesSignals: true,
    isTraced: true,
    load: loadServer,
  },
  migrate: { about: 'migrates the database', load: () => import('./cli/migrate.ts') },
  admin: { about: 'creates and removes admins', load: () => import('./cli/admin/index.ts') },
  users: { about: 'imports and exports users', load: () => import('./cli/users/index.ts') },
  clients: {
    about: 'manages OAuth clients',
    load: () => import('./cli/clients/index.ts'),
  },
  token: { about: 'creates a token for a service', load: () => import('./cli/token.ts') },
  keys: { about: 'manages signing keys', load: () => import('./cli/keys/index.ts') },
  scim: { about: 'manages SCIM connections and tokens', load: () => import('./cli/scim.ts') },
  mail: {
    about: 'lists, retries and deletes unsent emails',
    load: () => import('./cli/mail/index.ts'),
  },
  'mail-preview': {
    about: 'renders every email into a file (npm run mail:preview)',
    load: () => import('./cli/mail-preview.ts'),
  },
  doctor: {
    about: 'checks a deployment',
    load: () => import('./cli/doctor/index.ts'),
  },
  backup: {
    about: 'backs up the database to a file',
    load: () => import('./cli/backup/index.ts'),
  },
  restore: {
    about: 'restores a backup into an empty database',
    load: () => import('./cli/restore.ts'),
  },
  takeover: {
    about: 'migrates a GoTrue database',
    load: () => import('./cli/takeover/index.ts'),
  },
  sso: {
    about: 'manages SAML identity providers',
    load: () => import('./cli/sso.ts'),
  },
  providers: {
    about: 'shows what to register with identity providers',
    load: () => import('./cli/providers.ts'),
  },
  'config-docs': {
    about: 'generates the configuration reference (npm run config:docs)',
    load: () => import('./cli/config-docs/index.ts'),
  },
  openapi: { about: 'generates docs/openapi.json', load: () => import('./cli/openapi.ts') },
}

const configurationPage =
  'docs/configuration.md explains every variable, and docs/errors.md the common errors.'

const fileProblems: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'is not readable or writable by this user',
  EPERM: 'is not readable or writable by this user',
  EISDIR: 'is a folder, not a file',
  ENOTDIR: 'has a parent that is not a folder',
  ENOSPC: 'cannot be written: the disk is full',
}

allowNoHome(process.env)

const [name = '', ...args] = process.argv.slice(2)
const entry = Object.hasOwn(commands, name) ? commands[name] : undefined

// Caches stripped types and compiled code: every start but the first takes half the time. A failure is ignored. Node keeps
// what it has read, so a process that stays does without.
if (name !== 'serve') enableCompileCache(join(import.meta.dirname, 'node_modules/.cache/compile'))

if (entry) {
  if (!entry.handlesSignals) endOnSignals()
  if (entry.isTraced && !asksForHelp(args)) await instrument()
  const { run, usage } = await entry.load().catch((error) => end(missingPackage(error)))
  if (asksForHelp(args)) console.log(asCalled(usage))
  else await run(args).catch((error) => end(explain(error, asCalled(usage))))
} else if (name === '--version' || name === '-v') {
  console.log(version)
} else if (asksForHelp([name])) {
  console.log(overview())
} else {
  end(`${name === '' ? 'No command was given.' : `Unknown command ${name}.`}\n\n${overview()}`)
}

/** Instrumentation replaces what modules export, so it is loaded before the command. */
async function instrument(): Promise<void> {
  const loaded = import('./server/instrument.ts')
  const { instrumentIfTraced } = await loaded.catch((error) => end(missingPackage(error)))
  await instrumentIfTraced(process.env).catch((error) => end(explain(error, overview())))
}

/** The server with the checks of the doctor, which are loaded when an operator asks for them. */
async function loadServer(): Promise<Command> {
  const { run, usage } = await import('./server.ts')
  return { run: (args) => run(args, examineServer), usage }
}

async function examineServer(config: Config) {
  const { runDoctorChecks } = await import('./cli/doctor/index.ts')
  return runDoctorChecks(config)
}

function end(message: unknown): never {
  console.error(message)
  process.exit(1)
}

/** In the npm package, where this file is JavaScript, the command `postern` runs what the npm scripts of the repository run. */
function asCalled(text: string): string {
  if (import.meta.filename.endsWith('.ts')) return text
  return text
    .replace(/^node cli\.ts .*, or /, '')
    .replaceAll('npm start', 'npx postern serve')
    .replaceAll(
      /npm run (\S+)( --(?= ))?/g,
      (_, name: string) => `npx postern ${name.replace(':', '-')}`,
    )
}

/** Options after `--` belong to the command. */
function asksForHelp(given: readonly string[]): boolean {
  const end = given.indexOf('--')
  const options = end === -1 ? given : given.slice(0, end)
  return options.some((option) => option === '--help' || option === '-h')
}

function overview(): string {
  const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(14)}${about}`)
  return asCalled(`node cli.ts COMMAND [ARGUMENTS], or npm run COMMAND -- [ARGUMENTS]

${lines.join('\n')}

Run a command with --help for its usage. --version prints the version.`)
}

/** One sentence for an error that the operator can fix, the whole stack for a programming error. */
function explain(error: unknown, usage: string): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (code.startsWith('ERR_PARSE_ARGS')) return `${error.message}\n\nUsage:\n${usage}`
  if (error instanceof AggregateError) return error.errors.map(String).join('\n')
  if (error instanceof TypeError || error instanceof ReferenceError) return error
  if (error.name === 'ConfigError') return `${error.message}\n${configurationPage}`
  return fileProblem(error, code) ?? (error.message || error.name)
}

/** A package that was not installed, or a development dependency that was omitted. */
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
