/**
 * An OpenID provider for development, below /dev/oidc: a newcomer tries an external sign-in (`provider=dev`) without an
 * account anywhere. Any name signs in, without a password, so it exists in dev mode only.
 */
import { randomBytes } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { ProviderSettings } from '../../providers/provider.ts'
import type { House } from '../define-plugin.ts'
import { serveLogin } from './dev-oidc/login.ts'
import {
  isInstalled,
  mount,
  type OpenidProvider,
  startOpenidProvider,
} from './dev-oidc/openid-provider.ts'

/** How the provider `dev` is reached; undefined outside of dev mode, and where no development packages are installed. */
export async function serveDevOidc(
  house: House<'config' | 'register'>,
): Promise<ProviderSettings | undefined> {
  const { dev, AUTH_API_EXTERNAL_URL } = house.config
  if (!dev || !isInstalled()) return undefined
  const settings = settingsAt(AUTH_API_EXTERNAL_URL)
  const provider = startedOnce(settings)
  await house.register(async (scope) => serveLogin(scope, provider))
  await house.register(async (scope) => serveProtocol(scope, provider))
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

/** Made when somebody first goes there: it takes longer than all the rest of the start. */
function startedOnce(settings: ProviderSettings) {
  let started: Promise<OpenidProvider> | undefined
  return () => {
    started ??= startOpenidProvider(settings)
    return started
  }
}

function serveProtocol(scope: FastifyInstance, provider: () => Promise<OpenidProvider>) {
  // The provider reads its own forms.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _body, done) => done(null))
  scope.all(`${mount}/*`, { schema: { hide: true } }, async (request, reply) => {
    const { handle } = await provider()
    reply.hijack()
    handle(request.raw, reply.raw, request.originalUrl)
  })
}
