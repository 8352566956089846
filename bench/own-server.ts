import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { freePort, loopReporter, type RunningServer, startServer, startSink } from './own/child.ts'
import { addDatabase, startDatabase } from './own/database.ts'
import { addModule, imageSettings, makeImage } from './own/image.ts'
import type { LoopProbe } from './own/loop-probe.ts'
import { nodeOptions } from './own/node-options.ts'
import { settings, smsSettings, telemetrySettings } from './own/settings.ts'

/** A server of the run, and the processes whose cost is read. */
export interface PosternVariant {
  name: string
  url: string
  databaseUrl: string
  serverPids: number[]
  loop: LoopProbe | undefined
}

export interface PosternServers {
  /** Of the first variant. */
  url: string
  databaseUrl: string
  jwtSecret: string
  /** This server first, then the requested variants. */
  variants: PosternVariant[]
  stop(): Promise<void>
}

interface PosternOptions {
  /** Adds the same server on the same database with traces and metrics on. */
  telemetry?: boolean
  /** Adds the same server twice, with an access token hook as database function and as HTTP server. */
  hooks?: boolean
  /** The same server once more, with organizations on. */
  organizations?: boolean
  /** Adds a server with every feature off, one for each feature, and one with all. */
  features?: boolean
  /** The server of another checkout of this repository, with its dependencies, on a database of its own. */
  beside?: string | undefined
  /** Adds these numbers of replicas behind HAProxy, each without and with PgBouncer, on the same database. */
  replicas?: readonly number[]
  /** Adds the same server with each of these pool sizes. */
  pools?: readonly number[]
  /** An existing Postgres for the databases of the run; otherwise one is started. */
  databaseUrl?: string | undefined
  /** Additional variables for every server. */
  env?: Record<string, string>
}

const root = join(import.meta.dirname, '..')

/**
 * Starts an empty Postgres, an SMTP sink, and this server as in production: one process, a pool of 20, no rate limits.
 * Throws with the server’s log when it does not start.
 */
export async function startPostern(options: PosternOptions = {}): Promise<PosternServers> {
  const started = new AsyncDisposableStack()
  // A second caller also waits: a run that fails because its servers are being stopped must not exit earlier.
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
  options: PosternOptions,
): Promise<Omit<PosternServers, 'stop'>> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-bench-'))
  started.defer(() => rm(folder, { recursive: true, force: true }))
  // As root, Postgres runs as another user, who needs access to the data.
  await chmod(folder, 0o711)
  const databaseUrl = await startDatabase(started, folder, options.databaseUrl)
  const jwtSecret = randomBytes(32).toString('base64url')
  const smtpPort = await startSink(started, 'mail-sink.ts')
  const shared = { ...smsSettings(await startSink(started, 'sms-sink.ts')), ...options.env }
  const run = { started, folder, databaseUrl, jwtSecret, smtpPort, shared }
  const first = await serve(run, 'server')
  const variants = [toVariant('server', first, databaseUrl), ...(await startVariants(run, options))]
  return { url: first.url, databaseUrl, jwtSecret, variants }
}

/** What the servers of a run have in common. */
interface Run {
  started: AsyncDisposableStack
  folder: string
  databaseUrl: string
  jwtSecret: string
  smtpPort: number
  shared: Record<string, string>
}

async function serve(
  { started, folder, databaseUrl, jwtSecret, smtpPort, shared }: Run,
  name: string,
  more: Record<string, string> = {},
  from = root,
): Promise<RunningServer> {
  const port = await freePort()
  const copy = await copyImage(folder, from)
  const all = {
    ...settings({ databaseUrl: more.DATABASE_URL ?? databaseUrl, jwtSecret }, port, smtpPort),
    ...shared,
    ...more,
    PORT: String(port),
    ...imageSettings(copy),
  }
  const program = {
    program: [join(copy, 'cli.ts'), 'serve'],
    nodeOptions: [...(await nodeOptions(from)), '--import', await addModule(copy, loopReporter)],
    logFile: join(folder, `${name}.log`),
    healthPath: '/health',
  }
  return startServer(started, program, all)
}

/** A copy as in the container image. */
async function copyImage(folder: string, from: string): Promise<string> {
  const copy = join(folder, 'images', createHash('sha256').update(from).digest('hex'))
  if (existsSync(copy)) return copy
  await makeImage(from, copy)
  return copy
}

async function startVariants(
  run: Run,
  { telemetry, hooks, organizations, features, beside, replicas = [], pools = [] }: PosternOptions,
): Promise<PosternVariant[]> {
  const { started, databaseUrl } = run
  const variants: PosternVariant[] = []
  if (beside) {
    const other = await addDatabase(started, databaseUrl, `postern_beside_${process.pid}`)
    const server = await serve(run, 'beside', { DATABASE_URL: other }, resolve(beside))
    variants.push(toVariant('beside', server, other))
  }
  if (telemetry) {
    const more = await telemetrySettings(await startSink(started, 'collector-sink.ts'))
    variants.push(toVariant('telemetry', await serve(run, 'telemetry', more), databaseUrl))
  }
  if (hooks) variants.push(...(await startHookVariants(run)))
  if (organizations) {
    const more = { AUTH_ORGANIZATIONS_ENABLED: 'true' }
    variants.push(toVariant('organizations', await serve(run, 'organizations', more), databaseUrl))
  }
  if (features) {
    const { featureSettings } = await import('./own/features.ts')
    for (const [name, more] of featureSettings()) {
      variants.push(toVariant(name, await serve(run, name, more), databaseUrl))
    }
  }
  for (const size of pools) {
    const more = { AUTH_DB_MAX_POOL_SIZE: String(size) }
    const server = await serve(run, `pool-${size}`, more)
    variants.push(toVariant(`pool of ${size}`, server, databaseUrl))
  }
  for (const count of replicas) variants.push(...(await startReplicaVariants(run, count)))
  return variants
}

async function startReplicaVariants(run: Run, count: number): Promise<PosternVariant[]> {
  const { started, databaseUrl } = run
  const { startReplicas } = await import('./own/replicas.ts')
  const variants: PosternVariant[] = []
  for (const pooled of [false, true]) {
    const group = await startReplicas(started, {
      databaseUrl,
      count,
      pooled,
      serve: (name, more) => serve(run, name, more),
    })
    variants.push({ ...group, databaseUrl, loop: undefined })
  }
  return variants
}

async function startHookVariants(run: Run): Promise<PosternVariant[]> {
  const { started, databaseUrl } = run
  const { functionHook, httpHook } = await import('./own/hooks.ts')
  const called = await serve(run, 'function-hook', await functionHook(databaseUrl))
  const sink = await startSink(started, 'hook-sink.ts')
  const requested = await serve(run, 'http-hook', httpHook(sink))
  return [
    toVariant('function hook', called, databaseUrl),
    toVariant('HTTP hook', requested, databaseUrl),
  ]
}

function toVariant(
  name: string,
  { url, pid, loop }: RunningServer,
  databaseUrl: string,
): PosternVariant {
  return { name, url, databaseUrl, serverPids: [pid], loop }
}
