/**
 * An OpenID provider for development, below /dev/oidc: a newcomer tries an external sign-in (`provider=dev`) without an
 * account anywhere. Any name signs in, with any password, so it exists in dev mode only.
 */
import { randomBytes } from 'node:crypto'

import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { ProviderSettings } from '../providers/provider.ts'
import { startOpenidProvider } from './dev-oidc/openid-provider.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** How the provider `dev` is reached. In dev mode only. */
    devOidc: ProviderSettings | undefined
  }
}

export function createDevOidc(baseUrl: string) {
  return {
    clientIds: ['postern'],
    secret: randomBytes(32).toString('base64url'),
    redirectUri: `${baseUrl}/callback`,
    issuer: `${baseUrl}/dev/oidc`,
    emailOptional: false,
    skipNonceCheck: false,
  }
}

async function devOidc(fastify: FastifyInstance) {
  const { config, log } = fastify
  if (!config.dev) {
    fastify.decorate('devOidc', undefined)
    return
  }
  const settings = createDevOidc(config.AUTH_API_EXTERNAL_URL.replace(/\/$/, ''))
  const handle = await startOpenidProvider(settings)
  fastify.decorate('devOidc', handle && settings)
  if (!handle) {
    log.info('the package oidc-provider is not installed: there is no external provider "dev"')
    return
  }
  await fastify.register(async (scope) => {
    // The provider reads its own forms.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _body, done) => done(null))
    scope.all('/dev/oidc/*', { schema: { hide: true } }, (request, reply) => {
      reply.hijack()
      handle(request.raw, reply.raw, request.originalUrl)
    })
  })
}

export default fp(devOidc, { name: 'dev-oidc', fastify: '5.x', dependencies: ['config'] })
