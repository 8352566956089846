/** The address of the client, from the header the operator trusts or from the socket. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import ipaddr from 'ipaddr.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** IPv4 or IPv6 text, for records; never from a header that clients may write. */
    readonly clientIp: string
  }
}

/** Names of the trusted header: ours, and the one a takeover's proxy already sends. */
const trustedHeaders = ['proxy-forwarded-for', 'sb-forwarded-for']

function createClientIp(trustForwardedHeader: boolean) {
  return (request: FastifyRequest): string => {
    const trusted = trustForwardedHeader ? firstAddress(request, trustedHeaders) : undefined
    return trusted ?? firstAddress(request, ['x-forwarded-for']) ?? request.ip
  }
}

function firstAddress(request: FastifyRequest, names: string[]): string | undefined {
  for (const name of names) {
    const value = request.headers[name]
    const first = (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim()
    if (first && ipaddr.isValid(first)) return first
  }
  return undefined
}

async function clientIp(fastify: FastifyInstance) {
  const read = createClientIp(fastify.config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED)
  fastify.decorateRequest('clientIp', {
    getter(this: FastifyRequest) {
      return read(this)
    },
  })
}

export default fp(clientIp, { name: 'client-ip', fastify: '5.x', dependencies: ['config'] })
