import { createHttpClient } from '../../../plugins/outgoing/http-client/index.ts'
import type { ProviderSettings } from '../../../providers/core/types.ts'
import { createProviderHttp } from '../../../providers/provider-http.ts'
import { client } from './fake-provider.ts'

export function fakeProviderSettings(changes: Partial<ProviderSettings>): ProviderSettings {
  return {
    clientIds: [client.id, 'second client'],
    secret: client.secret,
    redirectUri: client.redirectUri,
    emailOptional: false,
    skipNonceCheck: false,
    ...changes,
  }
}

/** The server’s own fetch, which limits the response size. */
export const { fetch } = createHttpClient({
  dev: true,
  proxy: { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined },
})

export function createUpstream(through: typeof globalThis.fetch = fetch, timeoutMs = 5000) {
  return createProviderHttp({ fetch: through, timeoutMs, discoverySeconds: 3600 })
}

/** A fetch that resolves the provider’s public URLs to loopback, and no others. */
export function publicAddresses(origin: string, bases: Readonly<Record<string, string>>) {
  function toLocalUrl(url: string): string {
    if (url.startsWith(`${origin}/`)) return url
    const base = Object.keys(bases).find((prefix) => url.startsWith(prefix))
    if (base === undefined) throw new Error(`${url} is no address of this provider`)
    return origin + bases[base] + url.slice(base.length)
  }
  const localFetch: typeof globalThis.fetch = (url, init) =>
    fetch(toLocalUrl(url instanceof Request ? url.url : url.toString()), init)
  return { fetch: localFetch, toLocalUrl }
}
