/** Finds and runs pg_dump and pg_restore, which must not be older than the server. */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { text } from 'node:stream/consumers'

import { hostsParameter } from '../../schemas/connection-string.ts'

/** Installation folders of packages that are not on the PATH. */
const folders = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/opt/homebrew/opt/{libpq,postgresql@*}/bin',
]

type Name = 'pg_dump' | 'pg_restore'

/** Finds this major version or a later one. Throws an Error that names the package to install. */
export async function findProgram(name: Name, minMajor: number): Promise<string> {
  const installed = folders.flatMap((folder) => globSync(`${folder}/${name}`))
  for (const program of [name, ...installed]) {
    if ((await readVersion(program)) >= minMajor) return program
  }
  throw new Error(
    `${name} of Postgres ${minMajor} or later is required: install the client programs (postgresql-client-${minMajor}).`,
  )
}

/** Returns 0 when there is no such program. */
async function readVersion(program: string): Promise<number> {
  const output = await run(program, ['--version'], {}).catch(() => '')
  return Number(/\s(\d+)/.exec(output)?.[1] ?? 0)
}

/**
 * Runs the program and returns its output. The password is passed in the environment: arguments are visible to every
 * user of the machine.
 */
export function runProgram(program: string, url: string, args: string[]): Promise<string> {
  const { password, searchParams } = new URL(url)
  // In the precedence of pg.
  const known = searchParams.get('password') || decodeURIComponent(password)
  return run(program, args, known ? { PGPASSWORD: known } : {})
}

/** Without a database: reads a file. */
export function readWithProgram(program: string, args: string[]): Promise<string> {
  return run(program, args, {})
}

/** Parameters that libpq accepts in a URL; it would reject those of pg and GoTrue. */
const understood = new Set([
  'host',
  'hostaddr',
  'port',
  'dbname',
  'user',
  'options',
  'application_name',
  'ssl',
  'sslmode',
  'sslcert',
  'sslkey',
  'sslrootcert',
  'sslcrl',
  'sslnegotiation',
  'channel_binding',
  'connect_timeout',
  'client_encoding',
  'target_session_attrs',
  'keepalives',
  'keepalives_idle',
  'keepalives_interval',
  'keepalives_count',
  'tcp_user_timeout',
  'gssencmode',
  'krbsrvname',
  'require_auth',
])

/** The URL for arguments, without the password, which may also be a parameter. */
export function addressForPrograms(url: string): string {
  const bare = new URL(url)
  const hosts = bare.searchParams.get(hostsParameter)
  bare.password = ''
  bare.search = [...bare.searchParams]
    .filter(([name]) => understood.has(name))
    // pg's name for encryption without certificate verification.
    .map(([name, value]) => [name, name === 'sslmode' && value === 'no-verify' ? 'require' : value])
    .map(([name, value = '']) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  return hosts === null ? bare.href : bare.href.replace(bare.host, hosts)
}

async function run(program: string, args: string[], env: Record<string, string>): Promise<string> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  const [out, errorText, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new Error(`${program} failed: ${errorText.trim()}`)
  return out
}
