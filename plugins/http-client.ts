/**
 * Outgoing HTTP. Everything goes through the proxies of the environment; NODE_EXTRA_CA_CERTS is Node's own.
 * `fetch` is for hosts fixed in our code or configuration keys; `guardedFetch` for addresses in somebody's text
 * (template URLs, discovery documents, JWKS, hooks), which may point into the operator's own network.
 */
import { isIP } from 'node:net'

import type { Dispatcher } from 'undici'

import type { Config } from './config/config.ts'
import { definePlugin } from './define-plugin.ts'
import { createAgent, loadUndici, type Proxies } from './http-client/agent.ts'
import { isPublicAddress, publicLookup } from './http-client/public-addresses.ts'

declare module 'fastify' {
  interface FastifyInstance {
    httpClient: ReturnType<typeof createHttpClient>
  }
}

export type Fetch = typeof globalThis.fetch

export interface HttpClientOptions {
  /** Development: plain http and private addresses pass the guard. */
  dev: boolean
  proxy: Proxies
  /** Longest body of an answer to `fetch`, after decompression. */
  maxBytes?: number
  /** The whole of a guarded request, body included. */
  guardTimeoutMs?: number
  /** Longest guarded body, after decompression. */
  guardMaxBytes?: number
}

/** The body of an answer is longer than was asked for. */
export class AnswerTooLong extends TypeError {
  /** Of the answer. */
  readonly status: number

  constructor(status: number, maxBytes: number) {
    super(`the answer is longer than ${maxBytes} bytes`)
    this.name = 'AnswerTooLong'
    this.status = status
  }
}

const userAgent = 'Postern'
const mostBytes = 1_048_576

export function createHttpClient(options: HttpClientOptions) {
  const { dev, maxBytes = mostBytes, guardTimeoutMs = 10_000, guardMaxBytes = mostBytes } = options
  const open = createAgent(options.proxy, undefined)
  const guarded = createAgent(options.proxy, dev ? undefined : publicLookup)

  async function guardedFetch(input: string | URL | Request, init: RequestInit = {}) {
    assertAllowed(urlOf(input), dev)
    const timeout = AbortSignal.timeout(guardTimeoutMs)
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout
    // Whoever wants to see a redirection gets it as it is; it is followed by nobody.
    const redirect = init.redirect === 'manual' ? 'manual' : 'error'
    return send(await guarded.get(), input, { ...init, signal, redirect }, guardMaxBytes)
  }

  return {
    /**
     * A `fetch` for fixed hosts. No deadline of its own beyond 30 s of silence: pass a signal.
     * Rejects with TypeError, also for a body past the limit of size.
     */
    fetch: (async (input: string | URL | Request, init: RequestInit = {}) =>
      send(await open.get(), input, init, maxBytes)) satisfies Fetch,

    /**
     * A `fetch` for addresses that an operator or a person names: https only, public addresses only (checked on the
     * address that is connected to, which defeats DNS rebinding), no redirects, limits of size
     * and time. Behind a proxy the proxy resolves names, so only literal addresses are checked here.
     * Rejects with TypeError; AbortSignal's TimeoutError when too slow.
     */
    guardedFetch: guardedFetch satisfies Fetch,

    /** Throws a TypeError for an address that `guardedFetch` would refuse without looking it up. */
    assertAllowed: (url: URL): void => assertAllowed(url, dev),

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
  const request = input instanceof Request ? await partsOf(input) : undefined
  const { body = null, ...rest } = { ...request, ...init }
  // Node's own FormData is not the undici package's, and nobody asks us for multipart.
  if (body instanceof FormData) throw new TypeError('multipart bodies are not supported')
  const headers = new Headers(rest.headers)
  if (!headers.has('user-agent')) headers.set('user-agent', userAgent)
  const parts = { ...rest, body, headers: [...headers], dispatcher: agent }
  const { fetch } = await loadUndici()
  return wholeResponse(await fetch(urlOf(input), parts), maxBytes)
}

/** Node's own Request is foreign to the undici package, so it is taken apart. */
async function partsOf(request: Request) {
  const { method, headers, signal, redirect } = request
  const body = request.body === null ? null : await request.arrayBuffer()
  return { method, headers, signal, redirect, body }
}

function urlOf(input: string | URL | Request): URL {
  return new URL(input instanceof Request ? input.url : input)
}

function assertAllowed(url: URL, dev: boolean): void {
  if (dev) return
  if (url.protocol !== 'https:') throw new TypeError(`${url.origin}: only https is allowed here`)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  // A literal address is never looked up, so it is checked here. The URL parser has normalised it.
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new TypeError(`${host} is not public`)
}

/**
 * Reads the body within the limit of bytes and the request's deadline, for everybody who asks through this client.
 * undici's maxResponseSize counts compressed bytes, which may unpack to a thousand times as many, and its
 * decompressing interceptor, which counts the others, is experimental and says so at every start.
 */
async function wholeResponse(
  response: Awaited<ReturnType<typeof import('undici').fetch>>,
  maxBytes: number,
) {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw new AnswerTooLong(response.status, maxBytes)
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
  needs: ['config', 'telemetry', 'addHook'],
  create(house) {
    const { config, telemetry } = house
    const client = createHttpClient({
      dev: config.dev,
      proxy: configuredProxies(config),
      guardTimeoutMs: config.AUTH_INTERNAL_HTTP_TIMEOUT * 1000,
      // Templates have a limit of their own, which may be higher than that of everything else.
      guardMaxBytes: Math.max(1_000_000, config.AUTH_MAILER_TEMPLATE_MAX_SIZE),
    })
    house.addHook('onClose', client.close)
    return {
      ...client,
      fetch: telemetry.fetch(client.fetch),
      guardedFetch: telemetry.fetch(client.guardedFetch),
    }
  },
})
