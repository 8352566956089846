/**
 * An OpenID provider for development, below /dev/oidc, to test an external sign-in (`provider=dev`) without an external
 * account. Any name signs in, without a password, so it exists in dev mode only.
 */
import { randomBytes } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { ProviderSettings } from '../../../../providers/core/types.ts'
import type { Deps } from '../../../define-plugin.ts'
import { serveLogin } from './login.ts'
import { isInstalled, mount, type OpenidProvider, startOpenidProvider } from './openid-provider.ts'

/** The settings of the provider `dev`; undefined outside dev mode, and without development packages. */
export async function serveDevOidc(
  deps: Deps<'config' | 'register'>,
): Promise<ProviderSettings | undefined> {
  const { dev, AUTH_API_EXTERNAL_URL } = deps.config
  if (!dev || !isInstalled()) return undefined
  const settings = settingsAt(AUTH_API_EXTERNAL_URL)
  const provider = startedOnce(settings)
  await deps.register(async (scope) => serveLogin(scope, provider))
  await deps.register(async (scope) => serveProtocol(scope, provider))
  return settings
}

function settingsAt(baseUrl: string): ProviderSettings {
  return {
    clientIds: ['postern'],
    secret: randomBytes(32).toString('base64url'),
    redirectUri: `${baseUrl}/callback`,
    issuer: `${baseUrl}/dev/oidc`,
    emailOptional: false,
    skipNonceCheck: false,
  }
}

/** Started at the first visit: it takes longer than the rest of the start. */
function startedOnce(settings: ProviderSettings) {
  let started: Promise<OpenidProvider> | undefined
  return () => {
    started ??= startOpenidProvider(settings)
    return started
  }
}

function serveProtocol(scope: FastifyInstance, provider: () => Promise<OpenidProvider>) {
  // The provider parses its own forms.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _body, done) => done(null))
  scope.all(`${mount}/*`, { schema: { hide: true } }, async (request, reply) => {
    const { handle } = await provider()
    reply.hijack()
    handle(request.raw, reply.raw, request.originalUrl)
  })
}
