/** pg_dump and pg_restore, which are of no use for a server that is newer than they are. */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { text } from 'node:stream/consumers'

/** Where packages put what is not on the path. */
const folders = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/opt/homebrew/opt/{libpq,postgresql@*}/bin',
]

type Name = 'pg_dump' | 'pg_restore'

/** One of this major version or a later one. Throws an Error that says what to install. */
export async function findProgram(name: Name, least: number): Promise<string> {
  const installed = folders.flatMap((folder) => globSync(`${folder}/${name}`))
  for (const program of [name, ...installed]) {
    if ((await versionOf(program)) >= least) return program
  }
  throw new Error(
    `${name} of Postgres ${least} or later is needed: install the client programs (postgresql-client-${least}).`,
  )
}

/** 0 where there is no such program. */
async function versionOf(program: string): Promise<number> {
  const said = await run(program, ['--version'], {}).catch(() => '')
  return Number(/\s(\d+)/.exec(said)?.[1] ?? 0)
}

/** What it wrote. The password goes by the environment, because everybody on the machine sees the arguments. */
export function runProgram(program: string, url: string, args: string[]): Promise<string> {
  const { password, searchParams } = new URL(url)
  // In the order in which pg looks for it.
  const known = searchParams.get('password') || decodeURIComponent(password)
  return run(program, args, known ? { PGPASSWORD: known } : {})
}

/** Without a database: reads a file. */
export function readWithProgram(program: string, args: string[]): Promise<string> {
  return run(program, args, {})
}

/** What libpq takes in an address; the rest, as pg or GoTrue take it there, would be refused. */
const understood = new Set([
  ...['host', 'hostaddr', 'port', 'dbname', 'user', 'options', 'application_name'],
  ...['ssl', 'sslmode', 'sslcert', 'sslkey', 'sslrootcert', 'sslcrl', 'sslnegotiation'],
  ...['channel_binding', 'connect_timeout', 'client_encoding', 'target_session_attrs'],
  ...['keepalives', 'keepalives_idle', 'keepalives_interval', 'keepalives_count'],
  ...['tcp_user_timeout', 'gssencmode', 'krbsrvname', 'require_auth'],
])

/** For arguments, which everybody on the machine sees: the password may stand among the parameters as well. */
export function addressForPrograms(url: string): string {
  const bare = new URL(url)
  bare.password = ''
  bare.search = [...bare.searchParams]
    .filter(([name]) => understood.has(name))
    // The name that pg gives to an encryption that asks for no certificate.
    .map(([name, value]) => [name, name === 'sslmode' && value === 'no-verify' ? 'require' : value])
    .map(([name, value = '']) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
  return bare.href
}

async function run(program: string, args: string[], env: Record<string, string>): Promise<string> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve)
  })
  const [out, said, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new Error(`${program} failed: ${said.trim()}`)
  return out
}
