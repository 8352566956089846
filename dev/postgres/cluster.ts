/** A Postgres cluster on disk: created with initdb, started and stopped with pg_ctl. */
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import type { Folder } from './folder.ts'
import { readProcessCommand } from './processes.ts'
import { PostgresStartError } from './start-error.ts'

const ownSettings = 'postern.conf'

export interface Cluster {
  folder: Folder
  /** The folder with initdb and pg_ctl. */
  bin: string
}

/** Created under a temporary name and renamed, so that an interrupted initdb leaves nothing that looks complete. */
export async function initialise(cluster: Cluster, password: string): Promise<void> {
  const { cluster: target, account } = cluster.folder
  if (existsSync(target)) return
  const draft = `${target}.draft`
  const passwordFile = `${target}.password`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (account !== undefined) {
    for (const path of [draft, passwordFile]) chownSync(path, account.uid, account.gid)
  }
  try {
    await run(cluster, 'initdb', [
      '--pgdata',
      draft,
      '--username=postgres',
      '--pwfile',
      passwordFile,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--no-sync',
      '--locale=C',
      // The same collation on every machine, whatever locales it has.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ])
  } finally {
    rmSync(passwordFile, { force: true })
  }
  appendFileSync(join(draft, 'postgresql.conf'), `\ninclude '${ownSettings}'\n`)
  renameSync(draft, target)
}

export async function start(cluster: Cluster, settings: Record<string, string>): Promise<number> {
  const dir = cluster.folder.cluster
  const logFile = join(dir, 'server.log')
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
  writeFileSync(join(dir, ownSettings), lines.join(''))
  rmSync(logFile, { force: true })
  try {
    await run(cluster, 'pg_ctl', ['start', '-D', dir, '-l', logFile, '-w', '-t', '60', '-s'])
  } catch (cause) {
    const tail = existsSync(logFile) ? readFileSync(logFile, 'utf8').slice(-2000) : ''
    throw new PostgresStartError(`Postgres did not start:\n${tail}`, { cause })
  }
  const pid = postmaster(dir)?.pid
  if (pid === undefined) throw new PostgresStartError('Postgres stopped right after it started')
  return pid
}

/** Disconnects clients and shuts down cleanly. */
export async function stop(cluster: Cluster): Promise<void> {
  const dir = cluster.folder.cluster
  if (postmaster(dir) === undefined) return
  try {
    await run(cluster, 'pg_ctl', ['stop', '-D', dir, '-m', 'fast', '-w', '-t', '20', '-s'])
  } catch {
    // Still running after that, or already gone; the write-ahead log makes an immediate stop safe.
    if (!runs(dir)) return
    await run(cluster, 'pg_ctl', ['stop', '-D', dir, '-m', 'immediate', '-w', '-t', '10', '-s'])
  }
}

/** Stops a Postgres left behind by a killed run. Returns whether there was one. */
export async function stopOrphan(cluster: Cluster): Promise<boolean> {
  const dir = cluster.folder.cluster
  if (postmaster(dir) === undefined) return false
  if (runs(dir)) {
    await stop(cluster)
    return true
  }
  // The process id is unused or reused: Postgres would take that process for its own.
  rmSync(join(dir, 'postmaster.pid'), { force: true })
  return false
}

function runs(dir: string): boolean {
  const found = postmaster(dir)
  return found !== undefined && readProcessCommand(found.pid)?.includes(found.dir) === true
}

/** The process id from the pid file, and the data folder as on the command line. */
function postmaster(dir: string): { pid: number; dir: string } | undefined {
  try {
    const [pid, named] = readFileSync(join(dir, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(pid), dir: named ?? dir }
  } catch {
    return undefined
  }
}

/** Detached: Ctrl-C signals the whole process group, but this process stops Postgres itself. */
function run(cluster: Cluster, program: string, args: string[]): Promise<void> {
  const child = spawn(join(cluster.bin, program), args, {
    ...cluster.folder.account,
    cwd: '/',
    detached: true,
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve()
      else reject(new PostgresStartError(`${program} failed (${code}):\n${output.slice(-2000)}`))
    })
  })
}
