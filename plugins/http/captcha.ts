/**
 * Verifies captcha responses with hCaptcha or Turnstile, which share a protocol, before the request is processed.
 * Rejects the request when the provider does not respond.
 */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'

import type { Config } from '../../config/groups/index.ts'
import { captchaFailed, unexpectedFailure } from '../../schemas/errors.ts'
import { definePlugin } from '../define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    captcha: ReturnType<typeof createCaptcha>
  }
}

type CaptchaKey = Extract<keyof Config, `AUTH_SECURITY_CAPTCHA_${string}`>

export interface CaptchaDeps {
  config: Pick<Config, Exclude<CaptchaKey, 'AUTH_SECURITY_CAPTCHA_SITE_KEY'>>
  fetch: typeof globalThis.fetch
  log: Pick<FastifyBaseLogger, 'warn'>
  /** Whether the request carries a valid bearer token of an admin role. */
  isAdmin: (request: FastifyRequest) => Promise<boolean>
}

const endpoints = {
  hcaptcha: 'https://hcaptcha.com/siteverify',
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
}

const CaptchaResult = Type.Object({
  success: Type.Boolean(),
  'error-codes': Type.Optional(Type.Array(Type.String())),
})

/** Throws an error that names the variable when captchas are enabled without a provider or secret. */
export function createCaptcha({ config, fetch, log, isAdmin }: CaptchaDeps) {
  const settings = config.AUTH_SECURITY_CAPTCHA_ENABLED ? settingsFrom(config) : undefined

  /** Throws captcha_failed for an unsolved challenge, unexpected_failure when the provider returns no result. */
  async function verify(token: string, remoteIp: string): Promise<void> {
    if (settings === undefined) return
    if (token === '') throw captchaFailed('no captcha_token found')
    const { url, secret, timeoutMs } = settings
    const body = new URLSearchParams({ secret, response: token, remoteip: remoteIp })
    const signal = AbortSignal.timeout(timeoutMs)
    const result = await requestResult(fetch, url, {
      method: 'POST',
      body,
      redirect: 'error',
      signal,
    })
    if (result.success) return
    const codes = (result['error-codes'] ?? []).filter((code) => /^[a-z0-9-]{1,64}$/.test(code))
    if (codes.some((code) => code.endsWith('-secret'))) {
      log.warn({ codes }, 'captcha provider rejects AUTH_SECURITY_CAPTCHA_SECRET')
    }
    throw captchaFailed(codes.join(', ') || 'not solved')
  }

  return {
    enabled: settings !== undefined,
    verify,

    /** A preHandler: requires a solved captcha, except from admins. Throws like `verify`. */
    async requireCaptcha(request: FastifyRequest): Promise<void> {
      if (settings === undefined || (await isAdmin(request))) return
      await verify(readToken(request.body), request.clientIp)
    },
  }
}

function settingsFrom(config: CaptchaDeps['config']) {
  const provider = config.AUTH_SECURITY_CAPTCHA_PROVIDER
  const secret = config.AUTH_SECURITY_CAPTCHA_SECRET
  if (!provider || !secret) {
    throw new Error(
      'AUTH_SECURITY_CAPTCHA_ENABLED needs AUTH_SECURITY_CAPTCHA_PROVIDER and AUTH_SECURITY_CAPTCHA_SECRET',
    )
  }
  const url = config.AUTH_SECURITY_CAPTCHA_URL ?? endpoints[provider]
  return { url, secret, timeoutMs: config.AUTH_SECURITY_CAPTCHA_TIMEOUT * 1000 }
}

async function requestResult(fetch: CaptchaDeps['fetch'], url: string, request: RequestInit) {
  try {
    const response = await fetch(url, request)
    const result: unknown = await response.json()
    // Failures come with any status; a success counts only with a successful status.
    if (Value.Check(CaptchaResult, result) && (response.ok || !result.success)) return result
    throw new Error(`the captcha provider sent no result (status ${response.status})`)
  } catch (error) {
    throw unexpectedFailure('captcha verification process failed', error)
  }
}

const MetaSecurity = Type.Object({
  gotrue_meta_security: Type.Object({ captcha_token: Type.String() }),
})
const TopLevel = Type.Object({ captcha_token: Type.String() })

function readToken(body: unknown): string {
  const nested = Value.Check(MetaSecurity, body) ? body.gotrue_meta_security.captcha_token : ''
  const top = Value.Check(TopLevel, body) ? body.captcha_token : ''
  return nested.trim() || top.trim()
}

export default definePlugin({
  name: 'captcha',
  deps: ['bearerAuth', 'config', 'httpClient', 'log'],
  create: ({ bearerAuth, config, httpClient, log }) =>
    createCaptcha({ config, fetch: httpClient.fetch, log, isAdmin: bearerAuth.isAdmin }),
})
