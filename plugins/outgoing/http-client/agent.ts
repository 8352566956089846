/** The connection agent for other servers. undici is loaded at the first request, which most servers never send. */
import type { LookupFunction } from 'node:net'

import type { Dispatcher } from 'undici'

export interface Proxies {
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

export const loadUndici = () => import('undici')

export function createAgent(proxies: Proxies, lookup: LookupFunction | undefined) {
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
