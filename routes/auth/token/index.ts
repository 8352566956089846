import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { requireFreshProof } from '../../../modules/access/index.ts'
import { signInWithPassword } from '../../../modules/credentials/index.ts'
import { readLinkContext } from '../../../modules/flows/index.ts'
import {
  completeExternalSignIn,
  createExternalSession,
  permitExternalUser,
} from '../../../modules/identities/index.ts'
import { joinByConnection, permitConnectionJoin } from '../../../modules/organizations/index.ts'
import { refreshSession, toTokenResponse } from '../../../modules/sessions/index.ts'
import { resolveUsername } from '../../../modules/usernames/index.ts'
import { checkEnabled, signInWithWallet } from '../../../modules/web3/index.ts'
import { choices, needed } from '../../../schemas/documented.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import {
  ApiError,
  badIdToken,
  emailProviderDisabled,
  invalidCredentials,
  manualLinkingDisabled,
  organizationsDisabled,
  phoneProviderDisabled,
  unsupportedGrantType,
  validationFailed,
} from '../../../schemas/errors.ts'
import { normalizeEmail, normalizePhone } from '../../../schemas/fields.ts'
import { Session } from '../../../schemas/session.ts'
import { TokenRequest } from '../../../schemas/token-request.ts'
import { pkceGrant } from './pkce.ts'

const Query = Type.Object({
  grant_type: Type.Optional(
    Type.String({ ...needed, ...choices('password', 'refresh_token', 'pkce', 'id_token', 'web3') }),
  ),
})

/** Grants whose token can only come from an earlier sign-in with a captcha. */
const withoutCaptcha = ['refresh_token', 'pkce', 'id_token']

/** A grant type of POST /token. */
type GrantHandler = (body: TokenRequest, request: FastifyRequest, now: Date) => Promise<Session>

const token: FastifyPluginAsyncTypebox = async (app) => {
  const { captcha, rateLimits, telemetry } = app
  const grants = new Map<string, GrantHandler>([
    ['password', passwordGrant(app)],
    ['refresh_token', refreshTokenGrant(app)],
    ['pkce', pkceGrant(app)],
    ['id_token', idTokenGrant(app)],
    ['web3', web3Grant(app)],
  ])

  /** The label of the rate limit; unknown grant types share one. */
  function getGrant({ query }: FastifyRequest): string {
    const grantType = Value.Check(Query, query) ? query.grant_type : undefined
    return grantType !== undefined && grants.has(grantType) ? grantType : 'unknown'
  }

  app.post(
    '/token',
    {
      preValidation: async (request: FastifyRequest<{ Querystring: { grant_type?: string } }>) => {
        const { grant_type = '' } = request.query
        if (!withoutCaptcha.includes(grant_type)) await captcha.requireCaptcha(request)
        if (grant_type === 'web3') checkEnabled(app)
        if (!grants.has(grant_type)) throw unsupportedGrantType()
      },
      config: { rateLimit: rateLimits.token, signIn: getGrant },
      schema: {
        summary: 'Token endpoint (RFC 6749)',
        tags: ['auth'],
        querystring: Query,
        body: TokenRequest,
        response: { 200: Session, ...ErrorResponses },
      },
    },
    async (request) => {
      const { grant_type = '' } = request.query
      const grant = grants.get(grant_type)
      if (!grant) throw unsupportedGrantType()
      try {
        return await grant(request.body, request, new Date())
      } catch (error) {
        const outcome = isServerError(error) ? 'failed' : 'rejected'
        telemetry.metrics.count('postern.sign_ins', { method: grant_type, outcome })
        throw error
      }
    },
  )
}

function isServerError(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status >= 500
}

/** A message signed by a wallet (EIP-4361, Sign-In with Solana). */
function web3Grant(app: FastifyInstance): GrantHandler {
  return async ({ chain, message, signature }, request, now) => {
    const { audience: aud, clientIp: ip, clientInfo } = request
    const context = { aud, ip, clientInfo, links: readLinkContext(app, request, {}) }
    return signInWithWallet(app, { chain, message, signature }, context, now)
  }
}

/** RFC 6749 §6, with rotation and reuse detection. */
function refreshTokenGrant(app: FastifyInstance): GrantHandler {
  return async ({ refresh_token, organization_id: organizationId }, { clientInfo }, now) => {
    if (!refresh_token) throw validationFailed('Refresh token is not valid')
    if (organizationId && !app.config.AUTH_ORGANIZATIONS_ENABLED) throw organizationsDisabled()
    return refreshSession(app, refresh_token, { ...clientInfo, organizationId }, now)
  }
}

/** RFC 6749 §4.3. Nothing about an account is revealed before its password is verified. */
function passwordGrant(app: FastifyInstance): GrantHandler {
  return async (body, { audience: aud, clientInfo, clientIp: ip }, now) => {
    const { username, password = '' } = body
    const contact =
      username && app.usernames.rules
        ? await readUsernameContact(body, username, aud)
        : readContact(body)
    return signInWithPassword(app, app.db, { ...contact, aud, password, clientInfo, ip }, now)
  }

  async function readUsernameContact(
    { email, phone }: TokenRequest,
    username: string,
    aud: string,
  ) {
    if (email || phone) throw validationFailed('Send one of username, email and phone')
    return resolveUsername(app.db, username, aud)
  }

  function readContact({ email, phone }: TokenRequest) {
    if (email && phone) {
      throw validationFailed('Only an email address or phone number should be provided on login.')
    }
    if (email) {
      if (!app.config.AUTH_EXTERNAL_EMAIL_ENABLED) {
        throw emailProviderDisabled('Email logins are disabled', 422)
      }
      return { provider: 'email' as const, address: readable(normalizeEmail, email) }
    }
    if (!phone) throw validationFailed('missing email or phone')
    if (!app.config.AUTH_EXTERNAL_PHONE_ENABLED) {
      throw phoneProviderDisabled('Phone logins are disabled', 422)
    }
    return { provider: 'phone' as const, address: readable(normalizePhone, phone) }
  }
}

/** An invalid identifier has no user: the error is that of a wrong password, as in GoTrue. */
function readable(normalize: (input: string) => string, address: string): string {
  try {
    return normalize(address)
  } catch {
    throw invalidCredentials()
  }
}

/** An id_token (OpenID Connect Core §2) that an app received from the provider. */
function idTokenGrant(app: FastifyInstance): GrantHandler {
  const { bearerAuth, config, db } = app
  const { oauthProviders } = app

  return async (body, request, now) => {
    const linking = body.link_identity ? await findLinkingUser(body, request, now) : {}
    const signedIn = await oauthProviders.identifyByIdToken(toRequest(body), now)
    const { provider, identity, emailOptional } = signedIn
    const externalUser = { provider, identity, emailOptional }
    const { audience: aud, clientIp: ip, clientInfo } = request
    const permit = await permitExternalUser(app, db, externalUser, linking, { aud, ip })
    const connection = await permitConnectionJoin(app, externalUser, ip)
    const context = { ip, aud, permit, links: readLinkContext(app, request, {}) }

    const outcome = await db.transaction().execute(async (trx) => {
      const found = await completeExternalSignIn(app, trx, externalUser, linking, context, now)
      if (found.state === 'rejected') return found
      if (connection) {
        await joinByConnection(app, trx, connection, found.user, { identity, ip }, now)
      }
      const client = { provider, clientInfo, ip }
      const opened = await createExternalSession(app, trx, found, client, now)
      return { state: 'opened' as const, opened }
    })
    if (outcome.state === 'rejected') throw outcome.error
    return toTokenResponse(app, outcome.opened, now)
  }

  /** The user who links an identity. Checked before the provider is called. */
  async function findLinkingUser({ id_token }: TokenRequest, request: FastifyRequest, now: Date) {
    if (!id_token) throw badIdToken('invalid request', 'id_token is missing')
    if (!request.headers.authorization) {
      throw badIdToken('invalid request', 'Linking an identity requires a token with a session')
    }
    const auth = await bearerAuth.authenticateNotImpersonated(request, now)
    bearerAuth.checkFactor(auth)
    const { user, session } = auth
    if (!config.AUTH_SECURITY_MANUAL_LINKING_ENABLED) throw manualLinkingDisabled()
    await requireFreshProof(app, db, auth, { change: 'identity' }, now)
    return { linkingTargetId: user.id, linkingSessionId: session?.session_id }
  }
}

function toRequest(body: TokenRequest) {
  const { id_token, provider, issuer, client_id, access_token, nonce } = body
  return {
    idToken: id_token,
    provider,
    issuer,
    clientId: client_id,
    accessToken: access_token,
    nonce,
  }
}

export default token
