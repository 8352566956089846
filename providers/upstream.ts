/** What every provider shares: a way to send requests, and the cache of discovery documents. */
import { createSend, type HttpOptions, type Send } from './http.ts'
import { createIssuers, type Issuers } from './issuers.ts'

export interface Upstream {
  send: Send
  issuers: Issuers
}

export interface UpstreamOptions extends HttpOptions {
  /** Lifetime of metadata and keys; older ones serve on while the provider is unreachable. */
  discoverySeconds: number
}

/** One for the whole process, so that the cache is shared. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const send = createSend(options)
  return { send, issuers: createIssuers(send, options.discoverySeconds) }
}
