/** The client's address, from headers of a trusted proxy, else from the connection. */
import { BlockList, isIP, isIPv4 } from 'node:net'

import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'

import type { Config } from '../../../config/groups/index.ts'
import { defineHooksPlugin } from '../../define-plugin.ts'
import { addressKey } from '../rate-limits/index.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** An IPv4 or IPv6 address, for records. */
    readonly clientIp: string
    /**
     * The key of rate limits: from the operator's header when one of the operator's proxies sent it, else the address
     * of the connection. '' for requests that are not limited by address (docs/operations.md, Limits).
     */
    readonly limitedIp: string
    /**
     * The key of message limits: the client's network from the operator's header or proxies, else of the connection.
     */
    readonly sendingNetwork: string
    /** What a session stores about the device that created or last used it. */
    readonly clientInfo: ClientInfo
  }
}

export interface ClientInfo {
  userAgent: string | null
  ip: string | null
  /** An IPv4 address, or the /64 of an IPv6 address. */
  network: string
  /** The session tag that the client sends (AUTH_SESSIONS_TAGS). */
  tag: string | null
}

/** Characters; real browsers send at most a tenth of this. */
const maxUserAgent = 2048

/** Names of the trusted header: ours, and the one that proxies of a GoTrue deployment send. */
const trustedHeaders = ['proxy-forwarded-for', 'sb-forwarded-for']

/** Characters of a limit key; no address is longer. */
const maxLimitKey = 100

type ForwardingConfig = Pick<
  Config,
  'AUTH_RATE_LIMIT_HEADER' | 'AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED'
>

function createClientIp(config: ForwardingConfig, forwarded: ReturnType<typeof createForwarded>) {
  const trustsOwnHeader = config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED
  const limitHeader = config.AUTH_RATE_LIMIT_HEADER?.toLowerCase()

  function readOwnHeader(request: FastifyRequest): string | undefined {
    const isTrusted = trustsOwnHeader && forwarded.isProxy(request.ip)
    return isTrusted ? firstAddress(request, trustedHeaders) : undefined
  }

  function read(request: FastifyRequest): string {
    const chain = readHeader(request, 'x-forwarded-for')
    return readOwnHeader(request) ?? forwarded.findClient(request.ip, chain)
  }

  function readLimited(request: FastifyRequest): string {
    if (limitHeader === undefined && !trustsOwnHeader) return ''
    if (!forwarded.isProxy(request.ip)) return addressIn(request.ip) ?? request.ip
    const own = readOwnHeader(request)
    if (own !== undefined || limitHeader === undefined) return own ?? ''
    const value = readHeader(request, limitHeader)
    // Clients may add entries to the left of it.
    if (limitHeader === 'x-forwarded-for') return value && forwarded.findClient(request.ip, value)
    const first = value.split(',', 1)[0]?.trim() ?? ''
    return addressIn(first) ?? first.slice(0, maxLimitKey)
  }

  return { read, readLimited }
}

function firstAddress(request: FastifyRequest, names: string[]): string | undefined {
  const entries = names.flatMap((name) => readHeader(request, name).split(','))
  return entries.map(addressIn).find((address) => address !== undefined)
}

/** A header sent several times is one list (RFC 9110 §5.3). */
function readHeader({ headers }: FastifyRequest, name: string): string {
  const value = headers[name]
  return Array.isArray(value) ? value.join() : (value ?? '')
}

export default defineHooksPlugin({
  name: 'client-info',
  deps: ['config', 'decorateRequest', 'telemetry'],
  install(deps) {
    const forwarded = createForwarded(deps.config.AUTH_TRUSTED_PROXIES)
    deps.telemetry.continueTracesFrom(forwarded.isProxy)
    const { read, readLimited } = createClientIp(deps.config, forwarded)
    deps.decorateRequest('clientIp', {
      getter(this: FastifyRequest) {
        return read(this)
      },
    })
    deps.decorateRequest('limitedIp', {
      getter(this: FastifyRequest) {
        return readLimited(this)
      },
    })
    deps.decorateRequest('sendingNetwork', {
      getter(this: FastifyRequest) {
        return addressKey(this.limitedIp || this.clientIp)
      },
    })
    deps.decorateRequest('clientInfo', {
      getter(this: FastifyRequest) {
        return readClientInfo(this)
      },
    })
  },
})

function readClientInfo({ headers, clientIp }: FastifyRequest): ClientInfo {
  const { 'user-agent': userAgent, 'x-session-tag': tag } = headers
  return {
    userAgent: userAgent?.slice(0, maxUserAgent) ?? null,
    ip: clientIp,
    network: addressKey(clientIp),
    tag: typeof tag === 'string' ? tag : null,
  }
}

/** The client address of a request: from the connection, or from X-Forwarded-For of trusted proxies. */
function createForwarded(networks: readonly string[]) {
  const proxies = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = getFamily(address)
    proxies.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family)
  }

  function isProxy(address: string): boolean {
    return isIP(address) !== 0 && proxies.check(address, getFamily(address))
  }

  return {
    isProxy,

    /**
     * Each proxy appends the address it received the request from. Entries are trusted from the right for as long as
     * the proxy that wrote them is trusted; entries further left may be forged by the client.
     */
    findClient(peer: string, chain: string): string {
      let known = addressIn(peer) ?? peer
      if (chain === '') return known
      for (const entry of chain.split(',').reverse()) {
        const next = isProxy(known) ? addressIn(entry) : undefined
        if (next === undefined) return known
        known = next
      }
      return known
    },
  }
}

/** Normalized, without a port and without a zone index (`%eth0`), which is local to one machine (RFC 4007 §11). */
function addressIn(entry: string): string | undefined {
  // The common case: already normalized.
  if (isIPv4(entry)) return entry
  const [, bracketed, dotted] = /^\s*(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)\s*$/.exec(entry) ?? []
  const [address = ''] = (bracketed ?? dotted ?? entry.trim()).split('%', 1)
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString()
}

function getFamily(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
