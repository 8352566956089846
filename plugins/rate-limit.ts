/**
 * Limits by client address, on the endpoints that send, guess or refresh. Without a header the operator trusts there
 * is no telling clients apart behind a proxy, so there is no such limit; limits per account are always on.
 */
import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import ipaddr from 'ipaddr.js'

import { overRequestRateLimit } from '../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    rateLimits: ReturnType<typeof createRateLimits>
  }
}

interface LimitCounts {
  otp: number
  verify: number
  token: number
  anonymous: number
}

/** Policies that routes state as their `config.rateLimit`; each route counts by itself. */
export function createRateLimits(counts: LimitCounts) {
  const perFiveMinutes = (max: number) => ({ max, timeWindow: 5 * 60_000 })
  return {
    otp: perFiveMinutes(counts.otp),
    verify: perFiveMinutes(counts.verify),
    token: perFiveMinutes(counts.token),
    anonymous: { max: counts.anonymous, timeWindow: 60 * 60_000 },
  }
}

/** An IPv4 address whole, an IPv6 address by its /64: one customer has all of those. */
export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`)
  return `${network.toString()}/64`
}

async function rateLimits(fastify: FastifyInstance) {
  const { config, log } = fastify
  const headerName = config.AUTH_RATE_LIMIT_HEADER?.toLowerCase()
  const trustsForwarded = config.AUTH_SECURITY_PROXY_FORWARDED_FOR_ENABLED
  if (!headerName && !trustsForwarded) {
    log.info('no AUTH_RATE_LIMIT_HEADER: requests are not limited by client address')
  }

  function keyOf(request: FastifyRequest): string | undefined {
    if (trustsForwarded) return addressKey(request.clientIp)
    const value = headerName ? request.headers[headerName] : undefined
    const first = (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim()
    return first ? addressKey(first) : undefined
  }

  await fastify.register(rateLimit, {
    global: false,
    keyGenerator: (request) => keyOf(request) ?? '',
    allowList: (request) => keyOf(request) === undefined,
    errorResponseBuilder: (_request, { ttl }) => overRequestRateLimit(Math.ceil(ttl / 1000)),
  })
  const limits = createRateLimits({
    otp: config.AUTH_RATE_LIMIT_OTP,
    verify: config.AUTH_RATE_LIMIT_VERIFY,
    token: config.AUTH_RATE_LIMIT_TOKEN_REFRESH,
    anonymous: config.AUTH_RATE_LIMIT_ANONYMOUS_USERS,
  })
  fastify.decorate('rateLimits', limits)
}

export default fp(rateLimits, {
  name: 'rate-limit',
  fastify: '5.x',
  dependencies: ['config', 'client-ip', 'error-handler'],
})
