import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'

import { startPostgres } from '../cli/dev/postgres.ts'
import { withClient } from '../cli/with-client.ts'
import { freePort, loopReporter, type RunningServer, startServer, startSink } from './own/child.ts'
import { imageSettings, makeImage } from './own/image.ts'
import type { LoopProbe } from './own/loop-probe.ts'
import { settings, smsSettings, telemetrySettings } from './own/settings.ts'
import { Refused } from './scenario.ts'

/** A server of the run, and where what it costs is read. */
export interface OwnSide {
  name: string
  url: string
  databaseUrl: string
  serverPids: number[]
  loop: LoopProbe | undefined
}

export interface OwnServer {
  /** Of the first side. */
  url: string
  databaseUrl: string
  jwtSecret: string
  /** This server first; then those that were asked for. */
  sides: OwnSide[]
  stop(): Promise<void>
}

export interface OwnServerOptions {
  /** The same server on the same database once more, with traces and metrics on. */
  telemetry?: boolean
  /** The same server twice more, with a hook for the claims that is a database function and one that is a server. */
  hooks?: boolean
  /** The server of another checkout of this repository, with its dependencies, on a database of its own. */
  beside?: string | undefined
  /** So many of this server behind HAProxy, with PgBouncer in front of the same database. */
  replicas?: number | undefined
  /** More variables for every server. */
  env?: Record<string, string>
}

const root = join(import.meta.dirname, '..')

/**
 * Starts an empty Postgres, something that takes mail, and this server as it runs in production:
 * one process, a pool of 20, no limit by address. Throws with the server's log when it does not come up.
 */
export async function startOwnServer(options: OwnServerOptions = {}): Promise<OwnServer> {
  const started = new AsyncDisposableStack()
  // Whoever asks second waits as well: a run that fails because its servers are being stopped must not end before that.
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= started.disposeAsync()
    return stopped
  }
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => stop().finally(() => process.exit(1)))
  }
  try {
    return { ...(await startAll(started, options)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startAll(
  started: AsyncDisposableStack,
  { telemetry = false, hooks = false, beside, replicas, env = {} }: OwnServerOptions,
): Promise<Omit<OwnServer, 'stop'>> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-bench-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  // Started by root, Postgres runs as somebody else, who must get through to the data.
  await chmod(folder, 0o711)
  const postgres = await startPostgres({ dir: join(folder, 'postgres'), log: console })
  started.defer(postgres.stop)
  const databaseUrl = postgres.url
  const jwtSecret = randomBytes(32).toString('base64url')
  const smtpPort = await startSink(started, 'mail-sink.ts')
  const shared = { ...smsSettings(await startSink(started, 'sms-sink.ts')), ...env }

  async function serve(name: string, more: Record<string, string> = {}, from = root) {
    const database = more.DATABASE_URL ?? databaseUrl
    const port = await freePort()
    const copy = await imageOf(from)
    const all = {
      ...settings({ databaseUrl: database, jwtSecret }, port, smtpPort),
      ...shared,
      ...more,
      PORT: String(port),
      ...imageSettings(root),
    }
    const program = {
      program: [join(copy, 'cli.ts'), 'serve'],
      nodeOptions: [...(await nodeOptions(from)), '--import', join(copy, basename(loopReporter))],
      logFile: join(folder, `${name}.log`),
      healthPath: '/health',
    }
    return startServer(started, program, all)
  }

  /** A copy as the container image has it, and with what is loaded into a server that is measured. */
  async function imageOf(from: string): Promise<string> {
    const copy = join(folder, 'images', createHash('sha256').update(from).digest('hex'))
    if (existsSync(copy)) return copy
    await makeImage(from, copy, [loopReporter])
    return copy
  }

  const first = await serve('server')
  const sides = [sideOf('server', first, databaseUrl)]
  if (beside) {
    const other = await addDatabase(databaseUrl, 'beside')
    const server = await serve('beside', { DATABASE_URL: other }, resolve(beside))
    sides.push(sideOf('beside', server, other))
  }
  if (telemetry) {
    const more = await telemetrySettings(await startSink(started, 'collector-sink.ts'))
    sides.push(sideOf('telemetry', await serve('telemetry', more), databaseUrl))
  }
  if (hooks) {
    const { functionHook, httpHook } = await import('./own/hooks.ts')
    const called = await serve('function-hook', await functionHook(databaseUrl))
    const asked = await serve('http-hook', httpHook(await startSink(started, 'hook-sink.ts')))
    sides.push(
      sideOf('function hook', called, databaseUrl),
      sideOf('HTTP hook', asked, databaseUrl),
    )
  }
  if (replicas) {
    const { startReplicas } = await import('./own/replicas.ts')
    const group = await startReplicas(started, { databaseUrl, count: replicas, serve })
    sides.push({ name: `${replicas} replicas`, ...group, databaseUrl, loop: undefined })
  }
  return { url: first.url, databaseUrl, jwtSecret, sides }
}

function sideOf(name: string, { url, pid, loop }: RunningServer, databaseUrl: string): OwnSide {
  return { name, url, databaseUrl, serverPids: [pid], loop }
}

/** Those of `npm start` there. Throws Refused for a folder without a package. */
async function nodeOptions(folder: string): Promise<string[]> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const words: string[] = manifest.scripts.start.split(' ')
    // The server runs in another folder than the one that its files are named from.
    return words
      .filter((word) => word.startsWith('--'))
      .map((word) => word.replace('=./', `=${resolve(folder)}/`))
  } catch (error) {
    throw new Refused(`${folder} is no checkout of this repository: ${error}`)
  }
}

/** One more database beside the first one. Returns its address. */
async function addDatabase(databaseUrl: string, name: string): Promise<string> {
  await withClient({ connectionString: databaseUrl }, (client) =>
    client.query(`create database ${name} template template0`),
  )
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  return url.href
}
