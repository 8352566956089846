/**
 * Rate limits by client address, on endpoints that send messages, verify secrets or refresh tokens. Behind a proxy
 * without a trusted header clients cannot be distinguished, so there is no such limit; limits per account always apply.
 * With AUTH_REDIS_URL replicas share their counters. While Redis is down each replica counts alone, and no request is
 * rejected because of the outage.
 */
import { isIPv4 } from 'node:net'

import rateLimit, {
  type FastifyRateLimitStore,
  type FastifyRateLimitStoreCtor,
  type RateLimitOptions,
} from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'

import type { Config } from '../../../config/groups/index.ts'
import { overRequestRateLimit } from '../../../schemas/errors.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { createLocalCounter, type Hits } from './local-counter.ts'

declare module 'fastify' {
  interface FastifyInstance {
    rateLimits: ReturnType<typeof createRateLimits>
  }
}

/** Maximum addresses counted by one process. */
const maxKeys = 50_000
const minute = 60_000

/** '' for a request that is not limited by address. */
const getKey = ({ limitedIp }: FastifyRequest) => limitedIp && addressKey(limitedIp)

type LimitName = {
  [Name in keyof Config]: Config[Name] extends number ? Name : never
}[keyof Config]

/** Policies that routes use as their `config.rateLimit`. */
function createRateLimits(config: Config) {
  /** `limiter` names the counter; by default all methods of the path share one. */
  function limit(variable: LimitName, timeWindow: number, limiter?: string) {
    const getLimiterName = (request: FastifyRequest) => limiter ?? request.routeOptions.url ?? ''
    return {
      // Read at each request, because a setting may change it.
      max: () => config[variable],
      timeWindow,
      keyGenerator: (request) => `${getLimiterName(request)} ${getKey(request)}`,
    } satisfies RateLimitOptions
  }

  const otp = limit('AUTH_RATE_LIMIT_OTP', 5 * minute)
  const anonymous = limit('AUTH_RATE_LIMIT_ANONYMOUS_USERS', 60 * minute, 'anonymous')
  const token = limit('AUTH_RATE_LIMIT_TOKEN_REFRESH', 5 * minute)
  const web3 = limit('AUTH_RATE_LIMIT_WEB3', 5 * minute, 'web3')
  const ofToken = ({ query }: FastifyRequest) => (isWeb3(query) ? web3 : token)
  const ofSignup = ({ body }: FastifyRequest) => (namesContact(body) ? otp : anonymous)

  return {
    otp,
    /** POST /signup: anonymous sign-ups have a separate limit, so the body is read first. */
    signup: {
      hook: 'preHandler',
      max: (request) => ofSignup(request).max(),
      timeWindow: (request) => ofSignup(request).timeWindow,
      keyGenerator: (request) => ofSignup(request).keyGenerator(request),
    } satisfies RateLimitOptions,
    verify: limit('AUTH_RATE_LIMIT_VERIFY', 5 * minute),
    /**
     * POST /token: wallets have a separate limit. Counted after the captcha, so that a bot cannot use up another
     * client's limit.
     */
    token: {
      hook: 'preValidation',
      max: (request) => ofToken(request).max(),
      timeWindow: (request) => ofToken(request).timeWindow,
      keyGenerator: (request) => ofToken(request).keyGenerator(request),
    } satisfies RateLimitOptions,
    oauthAuthorize: limit('AUTH_RATE_LIMIT_OAUTH_AUTHORIZE', 5 * minute, 'oauth'),
    oauthRegister: limit('AUTH_RATE_LIMIT_OAUTH_DYNAMIC_CLIENT_REGISTER', 5 * minute),
    /** The OAuth token endpoint and related endpoints. */
    oauthToken: limit('AUTH_RATE_LIMIT_TOKEN_REFRESH', 5 * minute),
    /** Endpoints for resource servers: introspection and userinfo. */
    oauthResource: limit('AUTH_RATE_LIMIT_OAUTH_RESOURCE', 5 * minute),
    scim: limit('AUTH_RATE_LIMIT_SCIM', 5 * minute, 'scim'),
    console: limit('AUTH_RATE_LIMIT_CONSOLE', 5 * minute, 'console'),
    mfa: limit('AUTH_MFA_RATE_LIMIT_CHALLENGE_AND_VERIFY', minute),
    sso: limit('AUTH_RATE_LIMIT_SSO', 5 * minute),
    samlAssertion: limit('AUTH_SAML_RATE_LIMIT_ASSERTION', 5 * minute),
    passkey: limit('AUTH_RATE_LIMIT_PASSKEY', 5 * minute),
    /** GET /authorize inserts a row, and /callback sends a request to the provider. */
    authorize: limit('AUTH_RATE_LIMIT_AUTHORIZE', 5 * minute),
  }
}

function isWeb3(query: unknown): boolean {
  return (
    typeof query === 'object' &&
    query !== null &&
    'grant_type' in query &&
    query.grant_type === 'web3'
  )
}

function namesContact(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  return ('email' in body && Boolean(body.email)) || ('phone' in body && Boolean(body.phone))
}

/** An IPv4 address, or the /64 of an IPv6 address: one customer usually has a whole /64. */
export function addressKey(address: string): string {
  if (isIPv4(address)) return address
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const network = ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`)
  return `${network.toString()}/64`
}

type LimitsDeps = Deps<'config' | 'log' | 'telemetry' | 'register' | 'addHook'>

async function createCount(deps: LimitsDeps): Promise<CountHit> {
  const { config, telemetry } = deps
  const countLocally = createLocalCounter(maxKeys)
  if (!config.AUTH_REDIS_URL) {
    return async (key, windowMs) => countLocally(key, windowMs, Date.now())
  }
  const shared = await createSharedCounter(deps, config.AUTH_REDIS_URL)
  deps.addHook('onClose', async () => shared.close())
  telemetry.metrics.gauge('postern.redis.up', async () => [
    { value: (await shared.isUp()) ? 1 : 0, labels: {} },
  ])
  return async (key, windowMs) => {
    const now = Date.now()
    // Also counted locally, so that an outage of Redis does not reset the counters.
    const own = countLocally(key, windowMs, now)
    const together = await shared.count(key, windowMs, now)
    if (!together) telemetry.metrics.count('postern.rate_limit.shared_store_failures', {})
    return together ?? own
  }
}

async function createSharedCounter({ config, log }: LimitsDeps, url: string) {
  // The client is only loaded when Redis is configured.
  const { createRedisCounter } = await import('./redis-counter.ts')
  return createRedisCounter({
    url,
    prefix: `postern:${new URL(config.AUTH_API_EXTERNAL_URL).host}:`,
    onLoss: (error) =>
      log.warn({ err: error }, 'Redis unavailable, rate limits counted by this process alone'),
    onReturn: () => log.info('Redis reconnected, shared rate limits resumed'),
  })
}

export default definePlugin({
  name: 'rateLimits',
  deps: ['config', 'log', 'telemetry', 'register', 'addHook'],
  async create(deps) {
    const { config, telemetry } = deps
    await deps.register(rateLimit, {
      global: false,
      store: createStore(await createCount(deps)),
      allowList: (request) => getKey(request) === '',
      onExceeded: (_request, key) => {
        const limiter = key.split(' ')[0] ?? ''
        telemetry.metrics.count('postern.rate_limit.exceeded', { limiter })
      },
      errorResponseBuilder: (_request, { ttl, max }) =>
        overRequestRateLimit(Math.ceil(ttl / 1000), max),
    })
    return createRateLimits(config)
  },
})

// Adapts the counters to the store interface of @fastify/rate-limit.

/** Adds a hit to a key of one limiter. */
type CountHit = (key: string, windowMs: number) => Promise<Hits>

function createStore(count: CountHit): FastifyRateLimitStoreCtor {
  return class Store implements FastifyRateLimitStore {
    incr(key: string, callback: Parameters<FastifyRateLimitStore['incr']>[1], windowMs: number) {
      count(key, windowMs).then(
        (hits) => callback(null, hits),
        (error) => callback(error),
      )
    }

    /** The key names the limiter, so one store serves all of them. */
    child(): FastifyRateLimitStore {
      return this
    }
  }
}
