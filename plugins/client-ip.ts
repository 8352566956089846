/** The address of the client, from the header the operator trusts or from the socket. */
import { isIP } from 'node:net'

import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyRequest {
    /** IPv4 or IPv6 text, for records; limits are keyed by what the operator trusts (plugins/rate-limit.ts). */
    readonly clientIp: string
    /** The same from the header that only a trusted proxy can set; undefined unless the operator has one. */
    readonly trustedIp: string | undefined
    /** What a session remembers about the device it was opened or used on. */
    readonly client: Client
  }
}

export interface Client {
  userAgent: string | null
  ip: string | null
  /** What kind of client it says it is (AUTH_SESSIONS_TAGS). */
  tag: string | null
}

/** Characters; the longest of real browsers are a tenth of this. */
const maxUserAgent = 2048

/** Names of the trusted header: ours, and the one a takeover's proxy already sends. */
const trustedHeaders = ['proxy-forwarded-for', 'sb-forwarded-for']

function createClientIp(trustForwardedHeader: boolean) {
  const readTrusted = (request: FastifyRequest): string | undefined =>
    trustForwardedHeader ? firstAddress(request, trustedHeaders) : undefined

  return {
    readTrusted,
    read: (request: FastifyRequest): string =>
      readTrusted(request) ?? firstAddress(request, ['x-forwarded-for']) ?? request.ip,
  }
}

function firstAddress(request: FastifyRequest, names: string[]): string | undefined {
  for (const name of names) {
    const value = request.headers[name]
    const entries = (Array.isArray(value) ? value.join() : (value ?? '')).split(',')
    const first = entries.map((entry) => entry.trim()).find((entry) => isIP(entry) !== 0)
    if (first) return withoutZone(first)
  }
  return undefined
}

/** `%eth0` at the end of a link-local address means something on one machine only (RFC 4007 §11). */
function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? address
}

async function clientIp(fastify: FastifyInstance) {
  const { AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED } = fastify.config
  const { read, readTrusted } = createClientIp(AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED)
  fastify.decorateRequest('clientIp', {
    getter(this: FastifyRequest) {
      return read(this)
    },
  })
  fastify.decorateRequest('trustedIp', {
    getter(this: FastifyRequest) {
      return readTrusted(this)
    },
  })
  fastify.decorateRequest('client', {
    getter(this: FastifyRequest) {
      const { 'user-agent': userAgent, 'x-session-tag': tag } = this.headers
      return {
        userAgent: userAgent?.slice(0, maxUserAgent) ?? null,
        ip: this.clientIp,
        tag: typeof tag === 'string' ? tag : null,
      }
    },
  })
}

export default fp(clientIp, { name: 'client-ip', fastify: '5.x', dependencies: ['config'] })
