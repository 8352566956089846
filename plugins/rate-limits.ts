/**
 * Limits by client address, on the endpoints that send, guess or refresh. Without a header the operator trusts there
 * is no telling clients apart behind a proxy, so there is no such limit; limits per account are always on.
 * With AUTH_REDIS_URL all replicas count together. While Redis is down each counts alone: nobody is refused for it.
 */
import { isIPv4 } from 'node:net'

import rateLimit, { type RateLimitOptions } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'

import { overRequestRateLimit } from '../errors.ts'
import type { Config } from './config/config.ts'
import { definePlugin, type House } from './define-plugin.ts'
import { createLocalCounter } from './rate-limits/local-counter.ts'
import { type CountHit, storeOf } from './rate-limits/store.ts'

declare module 'fastify' {
  interface FastifyInstance {
    rateLimits: ReturnType<typeof createRateLimits>
  }
}

/** Addresses counted by one process at a time. */
const maxKeys = 50_000
const minute = 60_000

/** '' for a request that is not limited by address. */
const keyOf = ({ limitedIp }: FastifyRequest) => limitedIp && addressKey(limitedIp)

/** Policies that routes state as their `config.rateLimit`. */
function createRateLimits(config: Config) {
  /** `limiter` is what is counted together; by default, all methods of the matched path. */
  function limit(max: number, timeWindow: number, limiter?: string) {
    const nameOf = (request: FastifyRequest) => limiter ?? request.routeOptions.url ?? ''
    return {
      max,
      timeWindow,
      keyGenerator: (request) => `${nameOf(request)} ${keyOf(request)}`,
    } satisfies RateLimitOptions
  }

  const otp = limit(config.AUTH_RATE_LIMIT_OTP, 5 * minute)
  const anonymous = limit(config.AUTH_RATE_LIMIT_ANONYMOUS_USERS, 60 * minute, 'anonymous')
  const ofSignup = ({ body }: FastifyRequest) => (namesContact(body) ? otp : anonymous)

  return {
    otp,
    /** POST /signup: people without an address have a limit of their own, so the body is read first. */
    signup: {
      hook: 'preHandler',
      max: (request) => ofSignup(request).max,
      timeWindow: (request) => ofSignup(request).timeWindow,
      keyGenerator: (request) => ofSignup(request).keyGenerator(request),
    } satisfies RateLimitOptions,
    verify: limit(config.AUTH_RATE_LIMIT_VERIFY, 5 * minute),
    /** POST /token: after the captcha, so that a bot uses up nobody's share. */
    token: {
      hook: 'preValidation',
      ...limit(config.AUTH_RATE_LIMIT_TOKEN_REFRESH, 5 * minute),
    } satisfies RateLimitOptions,
    mfa: limit(config.AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY, minute),
    passkey: limit(config.AUTH_RATE_LIMIT_PASSKEY, 5 * minute),
  }
}

function namesContact(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  return ('email' in body && Boolean(body.email)) || ('phone' in body && Boolean(body.phone))
}

/** An IPv4 address whole, an IPv6 address by its /64: one customer has all of those. */
export function addressKey(address: string): string {
  if (isIPv4(address)) return address
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`)
  return `${network.toString()}/64`
}

type LimitsHouse = House<'config' | 'log' | 'telemetry' | 'register' | 'addHook'>

async function createCount(house: LimitsHouse): Promise<CountHit> {
  const { config, telemetry } = house
  const countLocally = createLocalCounter(maxKeys)
  if (!config.AUTH_REDIS_URL) {
    return async (key, windowMs) => countLocally(key, windowMs, Date.now())
  }
  const shared = await createSharedCounter(house, config.AUTH_REDIS_URL)
  house.addHook('onClose', async () => shared.close())
  telemetry.metrics.gauge('postern.redis.up', async () => [
    { value: (await shared.isUp()) ? 1 : 0, labels: {} },
  ])
  return async (key, windowMs) => {
    const now = Date.now()
    // Also counted here, so that an outage of Redis does not begin with empty counters.
    const own = countLocally(key, windowMs, now)
    const together = await shared.count(key, windowMs, now)
    if (!together) telemetry.metrics.count('postern.rate_limit.shared_store_failures', {})
    return together ?? own
  }
}

async function createSharedCounter({ config, log }: LimitsHouse, url: string) {
  // Its client is loaded where there is a Redis.
  const { createRedisCounter } = await import('./rate-limits/redis-counter.ts')
  return createRedisCounter({
    url,
    prefix: `postern:${new URL(config.AUTH_API_EXTERNAL_URL).host}:`,
    onLoss: (error) =>
      log.warn({ err: error }, 'Redis does not answer: this process counts limits alone'),
    onReturn: () => log.info('Redis answers again: limits are counted together'),
  })
}

export default definePlugin({
  name: 'rateLimits',
  needs: ['config', 'log', 'telemetry', 'register', 'addHook'],
  async create(house) {
    const { config, telemetry } = house
    await house.register(rateLimit, {
      global: false,
      store: storeOf(await createCount(house)),
      allowList: (request) => keyOf(request) === '',
      onExceeded: (_request, key) => {
        const limiter = key.split(' ')[0] ?? ''
        telemetry.metrics.count('postern.rate_limit.refusals', { limiter })
      },
      errorResponseBuilder: (_request, { ttl, max }) =>
        overRequestRateLimit(Math.ceil(ttl / 1000), max),
    })
    return createRateLimits(config)
  },
})
