/** A Postgres that may be killed, with a standby to replace it. */
import { type ChildProcess, execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { appendFile, chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { query } from '../db/sql.ts'
import type { Ending } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { watchUs } from '../support/processes/stop-with-parent.ts'
import { until } from '../support/processes/until.ts'
import { createFolder } from './programs.ts'

const run = promisify(execFile)

/** TEST_POSTGRES_BIN, or the newest installed version; undefined when none is installed. */
export const bin =
  process.env.TEST_POSTGRES_BIN ?? globSync('/usr/lib/postgresql/*/bin').sort().at(-1)

/** Postgres does not run as root. */
function asPostgres(command: string, args: string[]) {
  const isRoot = process.getuid?.() === 0
  const whole = [join(bin ?? '', command), ...args]
  return isRoot ? run('runuser', ['-u', 'postgres', '--', ...whole]) : run(whole[0] ?? '', args)
}

/** A server without a standby. */
export async function startPostgresServer(t: Ending) {
  const server = await cluster(t, createFolder(t), 'alone')
  await initialise(server.data)
  await server.start()
  return server
}

/** In UTF-8 also where the environment names no language. */
function initialise(data: string) {
  const options = ['-U', 'postgres', '-A', 'trust', '--encoding=UTF8', '--no-sync']
  return asPostgres('initdb', ['-D', data, ...options])
}

export async function startPostgresPair(t: Ending) {
  const folder = createFolder(t)
  const primary = await cluster(t, folder, 'primary')
  await initialise(primary.data)
  await primary.start()
  const standby = await cluster(t, folder, 'standby')
  const from = `host=127.0.0.1 port=${primary.port} user=postgres`
  const copy = ['-D', standby.data, '-d', from, '-R', '--checkpoint=fast', '--no-sync']
  await asPostgres('pg_basebackup', copy)
  await standby.start()
  return {
    url: `postgres://postgres:x@127.0.0.1:${primary.port}/postgres`,
    /** From now on only changes received by the standby are acknowledged. */
    async replicateSynchronously(): Promise<void> {
      await primary.sql("alter system set synchronous_standby_names = '*'")
      await primary.sql('select pg_reload_conf()')
      await until(async () => (await synchronous(primary.url)).isSynchronous)
      // Changes acknowledged before this setting did not wait for it.
      const { position } = await synchronous(primary.url)
      await until(async () => (await synchronous(primary.url, position)).isSynchronous)
    },
    primary,
    standby,
  }
}

export type PostgresServer = Awaited<ReturnType<typeof cluster>>

async function cluster(t: Ending, folder: string, name: string) {
  const data = join(folder, name)
  const port = await freePort()
  await mkdir(data, { mode: 0o700 })
  if (process.getuid?.() === 0) {
    const { stdout } = await run('id', ['-u', 'postgres'])
    await chown(data, Number(stdout), Number(stdout))
  }
  // Only processes are killed, not the machine: data written to files is not lost.
  const options = `-p ${port} -h 127.0.0.1 -k ${data} -c max_connections=200 -c fsync=off`
  const control = (...args: string[]) => asPostgres('pg_ctl', ['-D', data, '-w', ...args])

  let watch: ChildProcess | undefined

  async function start(): Promise<void> {
    await control('start', '-l', join(data, 'log'), '-o', options)
    watch?.kill('SIGKILL')
    watch = watchUs(await processId(data), 'QUIT')
  }

  async function stop(mode: 'fast' | 'immediate'): Promise<void> {
    await control('stop', '-m', mode).catch(() => undefined)
    watch?.kill('SIGKILL')
  }

  t.after(async () => {
    // A paused server receives nothing.
    await signalAll(data, 'SIGCONT').catch(() => {})
    await stop('immediate')
  })
  return {
    data,
    port,
    url: `postgres://postgres:x@127.0.0.1:${port}/postgres`,
    start,
    stop,
    promote: () => control('promote'),
    /** As when its machine is lost: no process of it does anything more. */
    async kill(): Promise<void> {
      watch?.kill('SIGKILL')
      await signalAll(data, 'SIGKILL')
    },
    /** Makes a stopped server a standby, when it is started, of the server on that port. */
    async follow(primaryPort: number): Promise<void> {
      const primary = `host=127.0.0.1 port=${primaryPort} user=postgres`
      await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`)
      await writeFile(join(data, 'standby.signal'), '')
    },
    /** Pauses each process of the server with open connections, until `run`. */
    stall: async () => signalAll(data, 'SIGSTOP'),
    run: async () => signalAll(data, 'SIGCONT'),
    sql: (statement: string) =>
      asPostgres('psql', [
        '-h',
        '127.0.0.1',
        '-p',
        String(port),
        '-U',
        'postgres',
        '-c',
        statement,
      ]),
  }
}

/** Whether a standby is synchronous and has received this log position; and the current end of the log. */
async function synchronous(url: string, position = '0/0') {
  const [row] = await query(
    url,
    `select pg_current_wal_lsn()::text as position, exists (
       select from pg_stat_replication where sync_state = 'sync' and flush_lsn >= '${position}'::pg_lsn
     ) as is_so`,
  )
  return { isSynchronous: row?.is_so === true, position: String(row?.position) }
}

async function processId(data: string): Promise<string> {
  const [server = ''] = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')
  return server
}

/** The server of this folder and its child processes. */
async function signalAll(data: string, signal: NodeJS.Signals): Promise<void> {
  const server = await processId(data)
  const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', server])
  for (const pid of [server, ...stdout.trim().split(/\s+/)]) process.kill(Number(pid), signal)
}
