/**
 * A connection to whichever host of the connection string accepts it. Every connection of the server is one of these.
 */
import pg from 'pg'

import { hostsParameter } from '../../../schemas/connection-string.ts'

// Hosts and encryption of a connection: libpq's meaning of sslmode, target_session_attrs and multiple hosts. The first
// candidate that works is used for all connections of the process.

/** Connection strings for pg in libpq's order; each is tried after the previous one failed. */
interface DatabaseEndpoints {
  attempts: readonly string[]
  /** Whether read-only servers are skipped. */
  needsPrimary: boolean
}

/** pg verifies the server's certificate where libpq does not; this parameter makes it behave like libpq. */
const asLibpq = { uselibpqcompat: 'true' }

/** In libpq's order. Without sslmode, a local server is tried without TLS only. */
function tlsSettings(url: URL, host: string): Record<string, string>[] {
  const parameters = url.searchParams
  const mode = parameters.get('sslmode') ?? (parameters.has('ssl') ? 'given to pg' : undefined)
  const off = { sslmode: 'disable' }
  const unverified = { sslmode: 'prefer', ...asLibpq }
  if (parameters.get('sslrootcert') === 'system') {
    return [{ sslmode: 'verify-full', sslrootcert: '' }]
  }
  if (mode === 'allow') return [off, unverified]
  if (mode === 'prefer') return [unverified, off]
  if (mode === 'require' || mode === 'verify-ca') return [asLibpq]
  if (mode !== undefined || isLocal(host) || isSetByEnvironment(url)) return [{}]
  return [unverified, off]
}

/** Whether PGSSLMODE is set, which pg reads. */
function isSetByEnvironment({ href }: URL): boolean {
  return Boolean(new pg.Client({ connectionString: href }).ssl)
}

function isLocal(host: string): boolean {
  return (
    host === '' || host.startsWith('/') || /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host)
  )
}

/** Throws for an invalid connection string. */
function parseEndpoints(connectionString: string): DatabaseEndpoints {
  const url = new URL(connectionString)
  const { searchParams } = url
  const hosts = searchParams.get(hostsParameter)?.split(',')
  const target = searchParams.get('target_session_attrs') ?? ''
  const places = hosts?.map((host) => at(url, host)) ?? [url]
  const attempts = places.flatMap((place) => {
    const host = place.searchParams.get('host') ?? decodeURIComponent(place.hostname)
    return tlsSettings(place, host).map((settings) => withSettings(place, settings))
  })
  // This server writes: without the parameter, several hosts are searched for the primary.
  const needsPrimary = ['read-write', 'primary'].includes(target) || (target === '' && !!hosts)
  return { attempts, needsPrimary }
}

/** The same URL with another host or socket directory. */
function at(url: URL, host: string): URL {
  const place = new URL(url)
  place.searchParams.delete(hostsParameter)
  const [, path, port = ''] = /^(\/[^:]*)(?::(\d+))?$/.exec(host) ?? []
  if (path !== undefined) {
    place.searchParams.set('host', path)
    place.searchParams.set('port', port || '5432')
    return place
  }
  place.searchParams.delete('host')
  place.searchParams.delete('port')
  const { username, password } = place
  const login = username === '' ? '' : `${username}:${password}@`
  return new URL(`postgres://${login}${host}${place.pathname}${place.search}`)
}

function withSettings(url: URL, settings: Record<string, string>): string {
  const entries = Object.entries(settings)
  if (entries.length === 0) return url.href
  const place = new URL(url)
  for (const [name, value] of entries) {
    if (value === '') place.searchParams.delete(name)
    else place.searchParams.set(name, value)
  }
  return place.href
}

const chosen = new Map<string, string>()

/** An unresponsive host must not delay the others. */
const probeMs = 3_000

/** The first candidate that works; cached until `forgetEndpoint`. Throws the error of the last one. */
async function chooseEndpoint(
  connectionString: string,
  { attempts, needsPrimary }: DatabaseEndpoints,
): Promise<string> {
  const known = chosen.get(connectionString)
  if (known !== undefined) return known
  let last: unknown
  for (const attempt of attempts) {
    try {
      await probe(attempt, needsPrimary)
      chosen.set(connectionString, attempt)
      return attempt
    } catch (error) {
      last = error
      // A rejected login is rejected by every candidate.
      if (error instanceof pg.DatabaseError && error.code === '28P01') break
    }
  }
  throw last
}

function forgetEndpoint(connectionString: string): void {
  chosen.delete(connectionString)
}

async function probe(attempt: string, needsPrimary: boolean): Promise<void> {
  const client = new pg.Client({ connectionString: attempt, connectionTimeoutMillis: probeMs })
  client.on('error', () => {})
  const isReplica = watchForReplica(client)
  try {
    await client.connect()
    if (needsPrimary && isReplica()) throw new Error('The server is a replica and takes no writes')
  } finally {
    void client.end().catch(() => {})
  }
}

interface ParameterStatus {
  parameterName: string
  parameterValue: string
}

/** Postgres reports on every connection whether it is read-only. */
function watchForReplica({ connection }: pg.Client): () => boolean {
  const seen = new Map<string, string>()
  connection.on('parameterStatus', ({ parameterName, parameterValue }: ParameterStatus) => {
    seen.set(parameterName, parameterValue)
  })
  const isOn = (name: string) => seen.get(name) === 'on'
  return () => isOn('in_hot_standby') || isOn('default_transaction_read_only')
}

type Connected = (error: Error) => void

export class DatabaseClient extends pg.Client {
  readonly #config: pg.ClientConfig
  readonly #endpoints: DatabaseEndpoints | undefined

  constructor(config: pg.ClientConfig = {}) {
    const { connectionString } = config
    const endpoints = connectionString === undefined ? undefined : parseEndpoints(connectionString)
    const first = endpoints?.attempts[0]
    super(first === undefined ? config : { ...config, connectionString: first })
    this.#config = config
    this.#endpoints = endpoints
  }

  override connect(): Promise<pg.Client>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    const { connectionString } = this.#config
    const endpoints = this.#endpoints
    if (connectionString === undefined || !endpoints || endpoints.attempts.length === 1) {
      return callback ? void super.connect(callback) : super.connect()
    }
    const connected = this.#connectToAny(connectionString, endpoints)
    if (!callback) return connected
    connected.then(() => Reflect.apply(callback, undefined, []), callback)
    return undefined
  }

  async #connectToAny(connectionString: string, endpoints: DatabaseEndpoints): Promise<pg.Client> {
    const attempt = await chooseEndpoint(connectionString, endpoints)
    const { host, port, ssl, connection } = new pg.Client({
      ...this.#config,
      connectionString: attempt,
    })
    Object.assign(this, { host, port, ssl, connection })
    const isReplica = watchForReplica(this)
    try {
      await super.connect()
    } catch (error) {
      forgetEndpoint(connectionString)
      throw error
    }
    // The next connection looks for the new primary.
    if (endpoints.needsPrimary && isReplica()) forgetEndpoint(connectionString)
    return this
  }
}
