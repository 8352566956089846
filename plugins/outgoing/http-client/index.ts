/**
 * Outgoing HTTP. All requests use the environment's proxies; NODE_EXTRA_CA_CERTS is handled by Node. `fetch` is for
 * hosts fixed in our code or configuration; `guardedFetch` for URLs that users or operators enter (templates, discovery
 * documents, JWKS, hooks), which may point into the operator's network (SSRF).
 */
import { isIP, type LookupFunction } from 'node:net'

import type { Dispatcher } from 'undici'

import type { Config } from '../../../config/groups/index.ts'
import { definePlugin } from '../../define-plugin.ts'
import { isPublicAddress, publicLookup, resolvesPublicly } from './public-addresses.ts'

// The connection agent for other servers. undici is loaded at the first request, which most servers never send.

interface Proxies {
  httpProxy: string | undefined
  httpsProxy: string | undefined
  noProxy: string | undefined
}

/** Milliseconds of silence after which a request fails. */
const idleTimeout = 30_000

/** Long enough for one lost packet; a host that takes longer counts as down. */
const connectTimeout = 2_500

/** A remote proxy cannot reach these hosts, and would see the request in clear text. */
const thisMachine = ['localhost', '127.0.0.1', '::1']

const loadUndici = () => import('undici')

function createAgent(proxies: Proxies, lookup: LookupFunction | undefined) {
  let made: Promise<Dispatcher> | undefined
  return {
    get(): Promise<Dispatcher> {
      made ??= makeAgent(proxies, lookup)
      return made
    },
    async close(): Promise<void> {
      await (await made)?.destroy()
    },
  }
}

async function makeAgent(
  { httpProxy, httpsProxy, noProxy }: Proxies,
  lookup: LookupFunction | undefined,
): Promise<Dispatcher> {
  const { EnvHttpProxyAgent } = await loadUndici()
  return new EnvHttpProxyAgent({
    // Empty strings keep undici from reading the environment itself.
    httpProxy: httpProxy ?? '',
    httpsProxy: httpsProxy ?? '',
    noProxy: [...thisMachine, noProxy ?? ''].join(','),
    headersTimeout: idleTimeout,
    bodyTimeout: idleTimeout,
    connect: { timeout: connectTimeout, ...(lookup && { lookup }) },
  })
}

declare module 'fastify' {
  interface FastifyInstance {
    httpClient: ReturnType<typeof createHttpClient>
  }
}

export type Fetch = typeof globalThis.fetch

export interface HttpClientOptions {
  /** Development: the guard allows http and private addresses. */
  dev: boolean
  proxy: Proxies
  /** Maximum response body of `fetch`, after decompression. */
  maxBytes?: number
  /** Time limit of a guarded request, including the body. */
  guardTimeoutMs?: number
  /** Maximum guarded response body, after decompression. */
  guardMaxBytes?: number
}

/** The response body exceeds the limit. */
export class ResponseTooLargeError extends TypeError {
  /** Of the response. */
  readonly status: number

  constructor(status: number, maxBytes: number) {
    super(`the response is longer than ${maxBytes} bytes`)
    this.name = 'ResponseTooLargeError'
    this.status = status
  }
}

const userAgent = 'Postern'
const defaultMaxBytes = 1_048_576

export function createHttpClient(options: HttpClientOptions) {
  const {
    dev,
    maxBytes = defaultMaxBytes,
    guardTimeoutMs = 10_000,
    guardMaxBytes = defaultMaxBytes,
  } = options
  const open = createAgent(options.proxy, undefined)
  const guarded = createAgent(options.proxy, dev ? undefined : publicLookup)

  async function guardedFetch(input: string | URL | Request, init: RequestInit = {}) {
    assertAllowed(toUrl(input), dev)
    const timeout = AbortSignal.timeout(guardTimeoutMs)
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout
    // A caller may receive a redirect; none is followed.
    const redirect = init.redirect === 'manual' ? 'manual' : 'error'
    return send(await guarded.get(), input, { ...init, signal, redirect }, guardMaxBytes)
  }

  return {
    /**
     * `fetch` for fixed hosts. It has no deadline beyond 30 s of silence: pass a signal. Rejects with TypeError, also
     * for a body above the limit.
     */
    fetch: (async (input: string | URL | Request, init: RequestInit = {}) =>
      send(await open.get(), input, init, maxBytes)) satisfies Fetch,

    /**
     * `fetch` for URLs from operators or users: https only, public addresses only (checked on the connected address,
     * which defeats DNS rebinding), no redirects, limits of size and time. Behind a proxy, which resolves names itself,
     * only literal addresses are checked. Rejects with TypeError; with AbortSignal's TimeoutError when too slow.
     */
    guardedFetch: guardedFetch satisfies Fetch,

    /** `guardedFetch` for URLs of OAuth clients: metrics do not name their hosts. */
    fetchFromOauthClient: guardedFetch satisfies Fetch,

    /** Throws a TypeError for a URL that `guardedFetch` would reject before a lookup. */
    assertAllowed: (url: URL): void => assertAllowed(url, dev),

    /**
     * As `assertAllowed`, with a DNS lookup. Rejects with a TypeError for a host without a public address; behind a
     * proxy, names are not resolved.
     */
    async checkAddress(url: URL): Promise<void> {
      assertAllowed(url, dev)
      const { httpProxy, httpsProxy } = options.proxy
      if (dev || httpProxy || httpsProxy) return
      await resolvesPublicly(url.hostname)
    },

    async close() {
      await Promise.all([open.close(), guarded.close()])
    },
  }
}

async function send(
  agent: Dispatcher,
  input: string | URL | Request,
  init: RequestInit,
  maxBytes: number,
): Promise<Response> {
  const request = input instanceof Request ? await readParts(input) : undefined
  const { body = null, ...rest } = { ...request, ...init }
  // Node's FormData is not that of the undici package, and this server sends no multipart bodies.
  if (body instanceof FormData) throw new TypeError('multipart bodies are not supported')
  const headers = new Headers(rest.headers)
  if (!headers.has('user-agent')) headers.set('user-agent', userAgent)
  const parts = { ...rest, body, headers: [...headers], dispatcher: agent }
  const { fetch } = await loadUndici()
  return wholeResponse(await fetch(toUrl(input), parts), maxBytes)
}

/** Node's Request is unknown to the undici package, so its parts are passed. */
async function readParts(request: Request) {
  const { method, headers, signal, redirect } = request
  const body = request.body === null ? null : await request.arrayBuffer()
  return { method, headers, signal, redirect, body }
}

function toUrl(input: string | URL | Request): URL {
  return new URL(input instanceof Request ? input.url : input)
}

function assertAllowed(url: URL, dev: boolean): void {
  if (dev) return
  if (url.protocol !== 'https:') throw new TypeError(`${url.origin}: only https is allowed here`)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  // No lookup happens for a literal address, so it is checked here, normalized by the URL parser.
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new TypeError(`${host} is not public`)
}

/**
 * Reads the body within the size limit and the deadline. undici's maxResponseSize counts compressed bytes, which may
 * expand a thousandfold; its decompressing interceptor counts decompressed bytes, but is experimental and prints a
 * warning at every start.
 */
async function wholeResponse(
  response: Awaited<ReturnType<typeof import('undici').fetch>>,
  maxBytes: number,
) {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new ResponseTooLargeError(response.status, maxBytes)
    chunks.push(chunk)
  }
  const headers = new Headers([...response.headers])
  for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  const body = response.body === null ? null : Buffer.concat(chunks)
  return new Response(body, { status: response.status, statusText: response.statusText, headers })
}

export function configuredProxies({ HTTP_PROXY, HTTPS_PROXY, NO_PROXY }: Config): Proxies {
  return { httpProxy: HTTP_PROXY, httpsProxy: HTTPS_PROXY, noProxy: NO_PROXY }
}

export default definePlugin({
  name: 'httpClient',
  deps: ['config', 'telemetry', 'addHook'],
  create(deps) {
    const { config, telemetry } = deps
    const client = createHttpClient({
      dev: config.dev,
      proxy: configuredProxies(config),
      guardTimeoutMs: config.AUTH_INTERNAL_HTTP_TIMEOUT * 1000,
      // Templates have their own limit, which may be higher.
      guardMaxBytes: Math.max(1_000_000, config.AUTH_MAILER_TEMPLATE_MAX_SIZE),
    })
    deps.addHook('onClose', client.close)
    return {
      ...client,
      fetch: telemetry.fetch(client.fetch),
      guardedFetch: telemetry.fetch(client.guardedFetch),
      fetchFromOauthClient: telemetry.fetch(client.guardedFetch, 'oauth_client'),
    }
  },
})
