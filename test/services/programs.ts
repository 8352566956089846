/** Third-party servers from the packages of the system. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { query } from '../db/sql.ts'
import type { Ending } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { until } from '../support/processes/until.ts'

/** A reason to skip a test, or false. */
export function missing(...programs: string[]): string | false {
  const absent = programs.filter((program) => {
    try {
      execFileSync('which', [program], { stdio: 'ignore' })
      return false
    } catch {
      return true
    }
  })
  return absent.length > 0 && `not installed: ${absent.join(', ')}`
}

/** A temporary folder that every user can read: servers run as users of their own. */
export function createFolder(t: Ending): string {
  const folder = temporaryFolder(t, 'services')
  chmodSync(folder, 0o755)
  return folder
}

/** A program that listens on `port`, which can be killed and restarted. `lastSignal` ends it with the test. */
export async function startProgram(
  t: Ending,
  command: string,
  args: string[],
  port: number,
  lastSignal: NodeJS.Signals = 'SIGKILL',
) {
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const started = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
    child = started
    await until(() => started.exitCode !== null || accepts(port))
    if (started.exitCode !== null) throw new Error(`${command} ended with ${started.exitCode}`)
  }

  async function stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill(signal)
    await exit
  }

  await start()
  t.after(() => stop(lastSignal))
  return { start, stop, signal: (name: NodeJS.Signals) => void child?.kill(name) }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

export async function startRedis(t: Ending) {
  const port = await freePort()
  const args = ['--port', String(port), '--save', '', '--loglevel', 'warning']
  const program = await startProgram(t, 'redis-server', [...args, '--bind', '127.0.0.1'], port)
  return { ...program, url: `redis://127.0.0.1:${port}` }
}

/**
 * PgBouncer in transaction mode by deploy/pgbouncer.ini, in front of the database of `url`. `program` is a version with
 * prepared statements; otherwise the installed one runs, which may have none (1.18 in Debian 12).
 */
export async function startPgbouncer(t: Ending, url: string, program?: string) {
  const folder = createFolder(t)
  const port = await freePort()
  const { hostname, port: databasePort, pathname, username, password } = new URL(url)
  const users = join(folder, 'users.txt')
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`)
  const shipped = await readFile(new URL('../../deploy/pgbouncer.ini', import.meta.url), 'utf8')

  async function pointAt(host: string, at: string): Promise<void> {
    const name = pathname.slice(1)
    const settings = shipped
      .replace(/^postgres = .*$/m, `${name} = host=${host} port=${at}`)
      .replace(/^listen_addr.*$/m, 'listen_addr = 127.0.0.1')
      .replace(/^listen_port.*$/m, `listen_port = ${port}`)
      .replace(/^auth_file.*$/m, `auth_file = ${users}`)
      .replace(/^; admin_users.*$/m, `admin_users = ${username}`)
    const known = program ? settings : settings.replace(/^max_prepared_statements.*$/m, '')
    await writeFile(file, known)
  }

  await pointAt(hostname, databasePort)
  // PgBouncer does not run as root.
  const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const args = ['-q', ...asUser, file]
  const running = await startProgram(t, program ?? 'pgbouncer', args, port)
  const through = new URL(url)
  through.host = `127.0.0.1:${port}`
  return {
    ...running,
    url: through.href,
    /** Its configuration. */
    file,
    /** Moves every client to another server transparently. */
    async moveTo(host: string, at: string): Promise<void> {
      await pointAt(host, at)
      running.signal('SIGHUP')
    },
  }
}

/** HAProxy by deploy/haproxy.cfg, in front of servers on these ports. */
export async function startHaproxy(t: Ending, ports: number[]) {
  const folder = createFolder(t)
  const port = await freePort()
  const shipped = await readFile(new URL('../../deploy/haproxy.cfg', import.meta.url), 'utf8')
  const servers = ports.map((one, index) => `  server postern${index} 127.0.0.1:${one}`)
  const settings = shipped
    .replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`)
    .replace(/^ {2}server-template .*$/m, servers.join('\n'))
  const file = join(folder, 'haproxy.cfg')
  const socket = join(folder, 'admin')
  await writeFile(file, `global\n  stats socket ${socket} mode 600 level admin\n${settings}`)
  const program = await startProgram(t, 'haproxy', ['-q', '-db', '-f', file], port)
  return {
    ...program,
    url: `http://127.0.0.1:${port}`,
    /** Whether new requests go to that server. */
    async take(index: number, state: 'ready' | 'drain'): Promise<void> {
      const connection = connect(socket)
      connection.end(`set server replicas/postern${index} state ${state}\n`)
      assert.equal((await text(connection)).trim(), '')
    },
  }
}

/** HAProxy by deploy/haproxy-postgres.cfg, in front of Postgres servers on these ports. Returns the port of the primary. */
export async function startPrimaryBalancer(t: Ending, ports: readonly number[]) {
  const folder = createFolder(t)
  const port = await freePort()
  const path = new URL('../../deploy/haproxy-postgres.cfg', import.meta.url)
  const servers = ports.map((one, index) => `  server pg${index + 1} 127.0.0.1:${one}`)
  const settings = (await readFile(path, 'utf8'))
    .replace(/^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`)
    .replace(/^ {2}server .*(\n {2}server .*)*$/m, servers.join('\n'))
    // On a busy machine a response may take longer. A killed server is noticed immediately.
    .replace(/^ {2}timeout check .*$/m, '  timeout check 20s')
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, settings)
  await startProgram(t, 'haproxy', ['-q', '-db', '-f', file], port)
  // Until its first checks, it takes every server for the primary, in turn.
  await until(async () => (await Promise.all(ports.map(() => reachesPrimary(port)))).every(Boolean))
  return port
}

async function reachesPrimary(port: number): Promise<boolean> {
  const url = `postgres://postgres:x@127.0.0.1:${port}/postgres`
  const [row] = await query(url, 'select pg_is_in_recovery() as standby').catch(() => [])
  return row?.standby === false
}
