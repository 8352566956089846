/** The address of the client: from headers when a trusted proxy sent them, else from the connection. */
import type { FastifyRequest } from 'fastify'

import { addressIn, createForwarded } from './client-ip/forwarded.ts'
import type { Config } from './config/config.ts'
import { defineExtension } from './define-plugin.ts'
import { addressKey } from './rate-limits.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** IPv4 or IPv6 text, for records. */
    readonly clientIp: string
    /**
     * What limits count by: as the operator's header says when one of the operator's proxies sent it, else the
     * address of the connection. '' for requests that are not limited by address (docs/operations.md, Limits).
     */
    readonly limitedIp: string
    /** What a session remembers about the device it was opened or used on. */
    readonly client: Client
  }
}

export interface Client {
  userAgent: string | null
  ip: string | null
  /** An IPv4 address whole, an IPv6 address by its /64. */
  network: string
  /** What kind of client it says it is (AUTH_SESSIONS_TAGS). */
  tag: string | null
}

/** Characters; the longest of real browsers are a tenth of this. */
const maxUserAgent = 2048

/** Names of the trusted header: ours, and the one a takeover's proxy already sends. */
const trustedHeaders = ['proxy-forwarded-for', 'sb-forwarded-for']

/** Characters of what limits count by; no address is as long. */
const maxLimitKey = 100

type ForwardingConfig = Pick<
  Config,
  'AUTH_RATE_LIMIT_HEADER' | 'AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED' | 'AUTH_TRUSTED_PROXIES'
>

function createClientIp(config: ForwardingConfig) {
  const trustsOwnHeader = config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED
  const limitHeader = config.AUTH_RATE_LIMIT_HEADER?.toLowerCase()
  const forwarded = createForwarded(config.AUTH_TRUSTED_PROXIES)

  function readOwnHeader(request: FastifyRequest): string | undefined {
    const isTrusted = trustsOwnHeader && forwarded.isProxy(request.ip)
    return isTrusted ? firstAddress(request, trustedHeaders) : undefined
  }

  function read(request: FastifyRequest): string {
    const chain = textOf(request, 'x-forwarded-for')
    return readOwnHeader(request) ?? forwarded.clientOf(request.ip, chain)
  }

  function readLimited(request: FastifyRequest): string {
    if (limitHeader === undefined && !trustsOwnHeader) return ''
    if (!forwarded.isProxy(request.ip)) return request.ip
    const own = readOwnHeader(request)
    if (own !== undefined || limitHeader === undefined) return own ?? ''
    const value = textOf(request, limitHeader)
    // Clients may put entries in front of this one.
    if (limitHeader === 'x-forwarded-for') return value && forwarded.clientOf(request.ip, value)
    const first = value.split(',', 1)[0]?.trim() ?? ''
    return addressIn(first) ?? first.slice(0, maxLimitKey)
  }

  return { read, readLimited }
}

function firstAddress(request: FastifyRequest, names: string[]): string | undefined {
  const entries = names.flatMap((name) => textOf(request, name).split(','))
  return entries.map(addressIn).find((address) => address !== undefined)
}

/** A header that came several times is one list (RFC 9110 §5.3). */
function textOf({ headers }: FastifyRequest, name: string): string {
  const value = headers[name]
  return Array.isArray(value) ? value.join() : (value ?? '')
}

export default defineExtension({
  name: 'client-ip',
  needs: ['config', 'decorateRequest'],
  install(house) {
    const { read, readLimited } = createClientIp(house.config)
    house.decorateRequest('clientIp', {
      getter(this: FastifyRequest) {
        return read(this)
      },
    })
    house.decorateRequest('limitedIp', {
      getter(this: FastifyRequest) {
        return readLimited(this)
      },
    })
    house.decorateRequest('client', {
      getter(this: FastifyRequest) {
        return clientOf(this)
      },
    })
  },
})

function clientOf({ headers, clientIp }: FastifyRequest): Client {
  const { 'user-agent': userAgent, 'x-session-tag': tag } = headers
  return {
    userAgent: userAgent?.slice(0, maxUserAgent) ?? null,
    ip: clientIp,
    network: addressKey(clientIp),
    tag: typeof tag === 'string' ? tag : null,
  }
}
