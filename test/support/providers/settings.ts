import { createHttpClient } from '../../../plugins/http-client.ts'
import type { ProviderSettings } from '../../../providers/provider.ts'
import { createUpstream } from '../../../providers/upstream.ts'
import { client } from './fake-provider.ts'

export function settingsOf(changes: Partial<ProviderSettings>): ProviderSettings {
  return {
    clientIds: [client.id, 'second client'],
    secret: client.secret,
    redirectUri: client.redirectUri,
    emailOptional: false,
    skipNonceCheck: false,
    ...changes,
  }
}

/** The server's own: it bounds the size of an answer. */
export const { fetch } = createHttpClient({
  dev: true,
  proxy: { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined },
})

export function upstreamOf(through: typeof globalThis.fetch = fetch, timeoutMs = 5000) {
  return createUpstream({ fetch: through, timeoutMs, discoverySeconds: 3600 })
}

/** A fetch that finds the provider's public addresses on loopback, and none but those. */
export function publicAddresses(origin: string, bases: Readonly<Record<string, string>>) {
  function localOf(url: string): string {
    if (url.startsWith(`${origin}/`)) return url
    const base = Object.keys(bases).find((prefix) => url.startsWith(prefix))
    if (base === undefined) throw new Error(`${url} is no address of this provider`)
    return origin + bases[base] + url.slice(base.length)
  }
  const localFetch: typeof globalThis.fetch = (url, init) =>
    fetch(localOf(url instanceof Request ? url.url : url.toString()), init)
  return { fetch: localFetch, localOf }
}
