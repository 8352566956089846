/** What every provider shares: a way to send requests, and the cache of discovery documents. */
import { createRequest, createSend, type HttpOptions, type Request, type Send } from './http.ts'
import { createIssuers, type Issuers } from './issuers.ts'

export interface Upstream {
  request: Request
  send: Send
  issuers: Issuers
}

interface UpstreamOptions extends HttpOptions {
  /** For metadata and keys, when those addresses are trusted less than the providers' own. */
  discoveryFetch?: typeof globalThis.fetch
  /** Lifetime of metadata and keys; older ones serve on while the provider is unreachable. */
  discoverySeconds: number
}

/** One for the whole process, so that the cache is shared. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { fetch, discoveryFetch = fetch, timeoutMs, discoverySeconds } = options
  const request = createRequest({ fetch, timeoutMs })
  const discover = createSend(createRequest({ fetch: discoveryFetch, timeoutMs }))
  return { request, send: createSend(request), issuers: createIssuers(discover, discoverySeconds) }
}

/** One for each name, made at its first use, unless it is given. */
export function upstreamsByName(
  create: () => Upstream,
  given: ReadonlyMap<string, Upstream> = new Map(),
): (name: string) => Upstream {
  const known = new Map(given)
  return (name) => {
    const upstream = known.get(name) ?? create()
    known.set(name, upstream)
    return upstream
  }
}
