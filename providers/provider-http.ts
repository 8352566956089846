/** The HTTP client and the metadata cache that all providers share. */
import type { HttpOptions } from './core/http-types.ts'
import type { ProviderHttp } from './core/types.ts'
import { createHttpRequest, createSend } from './http/request.ts'
import { createIssuers } from './oidc/issuers.ts'

interface UpstreamOptions extends HttpOptions {
  /** For metadata and keys whose URLs are less trusted than those of the providers. */
  discoveryFetch?: typeof globalThis.fetch
  /** Lifetime of metadata and keys; expired ones are used while the provider is unreachable. */
  discoverySeconds: number
}

/** One per process, so that the cache is shared. */
export function createProviderHttp(options: UpstreamOptions): ProviderHttp {
  const { fetch, discoveryFetch = fetch, timeoutMs, discoverySeconds } = options
  const request = createHttpRequest({ fetch, timeoutMs })
  const discover = createSend(createHttpRequest({ fetch: discoveryFetch, timeoutMs }))
  return { request, send: createSend(request), issuers: createIssuers(discover, discoverySeconds) }
}

/** One per name, created at its first use unless it is given. */
export function providerHttpByName(
  create: (name: string) => ProviderHttp,
  given: ReadonlyMap<string, ProviderHttp> = new Map(),
): (name: string) => ProviderHttp {
  const known = new Map(given)
  return (name) => {
    const upstream = known.get(name) ?? create(name)
    known.set(name, upstream)
    return upstream
  }
}
