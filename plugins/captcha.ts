/**
 * Captchas: a person's solved challenge is checked with hCaptcha or Turnstile before a request is worked on.
 * Both speak the same protocol. When the provider does not answer, nobody gets in.
 */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'

import { captchaFailed, unexpectedFailure } from '../errors.ts'
import type { Config } from './config/config.ts'
import { definePlugin } from './define-plugin.ts'

declare module 'fastify' {
  interface FastifyInstance {
    captcha: ReturnType<typeof createCaptcha>
  }
}

type CaptchaKey = Extract<keyof Config, `AUTH_SECURITY_CAPTCHA_${string}`>

export interface CaptchaDeps {
  config: Pick<Config, CaptchaKey>
  fetch: typeof globalThis.fetch
  log: Pick<FastifyBaseLogger, 'warn'>
  /** Whether the request carries a valid bearer token of an admin role. */
  isAdmin: (request: FastifyRequest) => Promise<boolean>
}

const endpoints = {
  hcaptcha: 'https://hcaptcha.com/siteverify',
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
}

const Verdict = Type.Object({
  success: Type.Boolean(),
  'error-codes': Type.Optional(Type.Array(Type.String())),
})

/** Throws, naming the variable, when captchas are on and provider or secret are missing. */
export function createCaptcha({ config, fetch, log, isAdmin }: CaptchaDeps) {
  const settings = config.AUTH_SECURITY_CAPTCHA_ENABLED ? settingsFrom(config) : undefined

  /** Throws captcha_failed for a challenge that was not solved, unexpected_failure without a verdict. */
  async function verify(token: string, remoteIp: string): Promise<void> {
    if (settings === undefined) return
    if (token === '') throw captchaFailed('no captcha_token found')
    const { url, secret, timeoutMs } = settings
    const body = new URLSearchParams({ secret, response: token, remoteip: remoteIp })
    const signal = AbortSignal.timeout(timeoutMs)
    const verdict = await ask(fetch, url, { method: 'POST', body, redirect: 'error', signal })
    if (verdict.success) return
    const codes = (verdict['error-codes'] ?? []).filter((code) => /^[a-z0-9-]{1,64}$/.test(code))
    if (codes.some((code) => code.endsWith('-secret'))) {
      log.warn({ codes }, 'the captcha provider refuses AUTH_SECURITY_CAPTCHA_SECRET')
    }
    throw captchaFailed(codes.join(', ') || 'not solved')
  }

  return {
    enabled: settings !== undefined,
    verify,

    /** A preHandler: lets admins pass and everybody else with a solved captcha. Throws like `verify`. */
    async requireCaptcha(request: FastifyRequest): Promise<void> {
      if (settings === undefined || (await isAdmin(request))) return
      await verify(tokenOf(request.body), request.clientIp)
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

async function ask(fetch: CaptchaDeps['fetch'], url: string, request: RequestInit) {
  try {
    const response = await fetch(url, request)
    const verdict: unknown = await response.json()
    // A refusal may come with any status, a success only with a good one.
    if (Value.Check(Verdict, verdict) && (response.ok || !verdict.success)) return verdict
    throw new Error(`the captcha provider gave no verdict (status ${response.status})`)
  } catch (error) {
    throw unexpectedFailure('captcha verification process failed', error)
  }
}

const MetaSecurity = Type.Object({
  gotrue_meta_security: Type.Object({ captcha_token: Type.String() }),
})
const TopLevel = Type.Object({ captcha_token: Type.String() })

function tokenOf(body: unknown): string {
  const nested = Value.Check(MetaSecurity, body) ? body.gotrue_meta_security.captcha_token : ''
  const top = Value.Check(TopLevel, body) ? body.captcha_token : ''
  return nested.trim() || top.trim()
}

export default definePlugin({
  name: 'captcha',
  needs: ['bearerAuth', 'config', 'httpClient', 'log'],
  create: ({ bearerAuth, config, httpClient, log }) =>
    createCaptcha({ config, fetch: httpClient.fetch, log, isAdmin: bearerAuth.isAdmin }),
})
