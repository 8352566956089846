/**
 * An OpenID provider for development, below /dev/oidc, to test an external sign-in (`provider=dev`) without an external
 * account. Any name signs in, without a password, so it exists in dev mode only.
 */
import { randomBytes } from 'node:crypto'

import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import type { ProviderSettings } from '../../../../providers/core/types.ts'
import type { Deps } from '../../../define-plugin.ts'
import {
  devOidcPageHeaders,
  errorPage,
  isInstalled,
  loginPage,
  mount,
  type OpenidProvider,
  startOpenidProvider,
} from './openid-provider.ts'

/** The settings of the provider `dev`; undefined outside dev mode, and without development packages. */
export async function serveDevOidc(
  deps: Deps<'config' | 'register'>,
): Promise<ProviderSettings | undefined> {
  const { dev, AUTH_API_EXTERNAL_URL } = deps.config
  if (!dev || !isInstalled()) return undefined
  const settings = settingsAt(AUTH_API_EXTERNAL_URL)
  const provider = startedOnce(settings)
  await deps.register(async (scope) => serveLogin(scope, provider))
  await deps.register(async (scope) => serveProtocol(scope, provider, settings.issuer))
  return settings
}

function settingsAt(baseUrl: string): ProviderSettings & { issuer: string } {
  return {
    clientIds: ['postern'],
    secret: randomBytes(32).toString('base64url'),
    redirectUri: `${baseUrl}/callback`,
    issuer: `${baseUrl}/dev/oidc`,
    emailOptional: false,
    skipNonceCheck: false,
  }
}

/** Started when the server listens: it takes longer than the rest of the start, and than a sign-in waits for it. */
function startedOnce(settings: ProviderSettings) {
  let started: Promise<OpenidProvider> | undefined
  return () => {
    started ??= startOpenidProvider(settings)
    return started
  }
}

function serveProtocol(
  scope: FastifyInstance,
  provider: () => Promise<OpenidProvider>,
  issuer: string,
) {
  // The provider parses its own forms.
  scope.removeAllContentTypeParsers()
  // A request shows the error of a failed start.
  scope.addHook('onListen', async () => void provider().catch(() => undefined))
  scope.addContentTypeParser('*', (_request, _body, done) => done(null))
  scope.get(`${mount}/.well-known/openid-configuration`, { schema: { hide: true } }, async () =>
    toMetadata(issuer),
  )
  scope.all(`${mount}/*`, { schema: { hide: true } }, async (request, reply) => {
    const { handle } = await provider()
    reply.hijack()
    handle(request.raw, reply.raw, request.originalUrl)
  })
}

/** Answered without the provider: a first sign-in waits for the package in the browser, which has the time. */
function toMetadata(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/me`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
}

const LoginForm = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 200 })),
  answer: Type.String(),
})

/** The login form of the development provider. */
function serveLogin(scope: FastifyInstance, provider: () => Promise<OpenidProvider>): void {
  const path = `${mount}/login/:uid`

  scope.get(path, { schema: { hide: true } }, async (_request, reply) =>
    reply.headers(devOidcPageHeaders).send(loginPage()),
  )

  scope.post<{ Body: { name?: string; answer: string } }>(
    path,
    { schema: { hide: true, body: LoginForm } },
    async ({ raw, body }, reply) => {
      const name = body.name?.trim().normalize('NFC') || 'Ann'
      try {
        const { answer } = await provider()
        const next = await answer(raw, reply.raw, body.answer === 'yes' ? name : undefined)
        return reply.redirect(next, 303)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        return reply.status(400).headers(devOidcPageHeaders).send(errorPage(reason))
      }
    },
  )
}
