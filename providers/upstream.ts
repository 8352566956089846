/** What every provider shares: a way to send requests, and the cache of discovery documents. */
import { createSend, type HttpOptions, type Send } from './http.ts'
import { createIssuers, type Issuers } from './issuers.ts'

export interface Upstream {
  send: Send
  issuers: Issuers
}

export interface UpstreamOptions extends HttpOptions {
  /** For metadata and keys, when those addresses are trusted less than the providers' own. */
  discoveryFetch?: typeof globalThis.fetch
  /** Lifetime of metadata and keys; older ones serve on while the provider is unreachable. */
  discoverySeconds: number
}

/** One for the whole process, so that the cache is shared. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { fetch, discoveryFetch = fetch, timeoutMs, discoverySeconds } = options
  const discover = createSend({ fetch: discoveryFetch, timeoutMs })
  return {
    send: createSend({ fetch, timeoutMs }),
    issuers: createIssuers(discover, discoverySeconds),
  }
}
