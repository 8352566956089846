/** The connections to other servers. Library and agent are loaded for the first request, which most servers never make. */
import type { LookupFunction } from 'node:net'

import type { Dispatcher } from 'undici'

export interface Proxies {
  httpProxy: string | undefined
  httpsProxy: string | undefined
  noProxy: string | undefined
}

/** Milliseconds of silence after which a request fails. */
const idleTimeout = 30_000
/** Time for a lost first packet; a host that is not there by then is down. */
const connectTimeout = 2_500

/** A proxy elsewhere cannot reach it, and would read what is sent there in clear. */
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
