import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import {
  findVerifiedContacts,
  scopeList,
  userinfoClaims,
} from '../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { ApiError, invalidToken, oauthInvalidRequest } from '../../schemas/errors.ts'
import { formOrJson } from '../../schemas/oauth/request.ts'

const Claims = Type.Object({ sub: Type.String() }, { additionalProperties: true })
const Body = Type.Union([
  Type.Object({ access_token: Type.Optional(Type.String()) }, { title: 'UserinfoRequest' }),
  Type.Null(),
])

const userinfo: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, config, db, rateLimits } = app
  const policy = { rateLimit: rateLimits.oauthResource }
  const described = { tags: ['oauth'], response: { 200: Claims, ...ErrorResponses } }

  app.get(
    '/oauth/userinfo',
    {
      config: policy,
      schema: {
        summary: 'UserInfo endpoint (OpenID Connect Core §5.3)',
        ...described,
      },
    },
    async (request) => claimsFor(tokenIn(request, undefined)),
  )

  app.post(
    '/oauth/userinfo',
    {
      config: policy,
      schema: {
        summary: 'UserInfo endpoint by POST, with the token in a header or a form',
        body: Body,
        consumes: formOrJson,
        ...described,
      },
    },
    async (request) => claimsFor(tokenIn(request, request.body?.access_token)),
  )

  async function claimsFor(token: string) {
    const { user, session, claims } = await authenticate(token)
    const scope = session?.oauth_client_id ? (claims.scope ?? session.scopes ?? '') : ''
    const names = session?.oauth_client_id ? (claims.userinfo_claims ?? []) : []
    const subject = { user, verified: await findVerifiedContacts(db, user) }
    return { sub: user.id, ...userinfoClaims(config, subject, { scopes: scopeList(scope), names }) }
  }

  /** Throws invalid_token with the challenge of RFC 6750 §3. */
  async function authenticate(token: string) {
    try {
      return await bearerAuth.authenticateOrClient(token, new Date())
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      throw invalidToken('The access token is invalid, expired or revoked')
    }
  }
}

/** Reads the token, which must be in one place only (RFC 6750 §2). */
function tokenIn({ headers }: FastifyRequest, inBody: string | undefined): string {
  const inHeader = /^bearer +(\S+)$/i.exec(headers.authorization?.trim() ?? '')?.[1]
  if (inHeader && inBody) throw oauthInvalidRequest('Send the access token in one place only')
  const token = inHeader ?? inBody
  if (!token) throw invalidToken('An access token is missing')
  return token
}

export default userinfo
