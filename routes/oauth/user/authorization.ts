import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { findAuthorization } from '../../../db/oauth-server/authorizations.ts'
import { isAllowedRedirect } from '../../../modules/flows/index.ts'
import {
  type Answering,
  approve,
  deny,
  isConsented,
  issueCode,
  type OpenRequest,
  openRequest,
  toStoredAuthentication,
} from '../../../modules/oauth-server/index.ts'
import { requiresFactor } from '../../../modules/page-session/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { oauthAuthorizationNotFound, validationFailed } from '../../../schemas/errors.ts'
import {
  AuthorizationDetails,
  AuthorizationPath,
  ConsentBody,
  RedirectUrl,
} from '../../../schemas/oauth/authorization.ts'

const path = '/oauth/authorizations/:authorization_id'
const policy = { rejectsImpersonation: true }

const readSchema = {
  summary: 'Get an authorization request, for a custom consent page',
  description:
    'If the user already consented, the response has only `redirect_url`, with the issued code.',
  tags: ['oauth'],
  params: AuthorizationPath,
  response: { 200: AuthorizationDetails, ...ErrorResponses },
}

const answerSchema = {
  summary: 'Approve or deny an authorization request',
  tags: ['oauth'],
  params: AuthorizationPath,
  body: ConsentBody,
  response: { 200: RedirectUrl, ...ErrorResponses },
}

const authorization: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, db, jwt } = fastify
  const rejectForeignOrigin = (request: FastifyRequest) => checkOrigin(fastify, request)
  const deps = { audit, jwt }

  fastify.get(
    path,
    {
      config: policy,
      preHandler: rejectForeignOrigin,
      schema: readSchema,
    },
    async (request) => {
      const now = new Date()
      const { authorization_id: id } = request.params
      return db.transaction().execute(async (trx) => {
        const answering = await lockAnsweringUser(fastify, trx, request, now)
        const known = await findAuthorization(trx, id)
        const opened = await openRequest(trx, id, answering, now)
        // At the first read only: a repeated read must not skip the consent.
        const isFirst = !known?.user_id
        if (isFirst && (await isConsented(trx, opened, answering))) {
          const { signIn } = answering
          return { redirect_url: await issueCode(deps, trx, opened.request, signIn, now) }
        }
        return toDetails(opened, answering)
      })
    },
  )

  fastify.post(
    `${path}/consent`,
    {
      config: policy,
      preHandler: rejectForeignOrigin,
      schema: answerSchema,
    },
    async (request) => {
      const now = new Date()
      const { action } = request.body
      if (action !== 'approve' && action !== 'deny') {
        throw validationFailed('action must be approve or deny')
      }
      const { authorization_id: id } = request.params
      return db.transaction().execute(async (trx) => {
        const answering = await lockAnsweringUser(fastify, trx, request, now)
        const known = await findAuthorization(trx, id)
        // The user must have read the request before responding to it.
        if (known?.user_id !== answering.user.id) throw oauthAuthorizationNotFound()
        const opened = await openRequest(trx, id, answering, now)
        const answer = action === 'approve' ? approve : deny
        return { redirect_url: await answer(deps, trx, opened, answering, now) }
      })
    },
  )
}

/** The locked user and session. */
async function lockAnsweringUser(
  { bearerAuth, config }: FastifyInstance,
  trx: Trx,
  request: FastifyRequest,
  now: Date,
): Promise<Answering> {
  const auth = await bearerAuth.reauthorize(trx, bearerAuth.getAuth(request), now)
  const { user } = auth
  const signIn = toStoredAuthentication(auth, now)
  // The hosted pages require a second factor, and this API must not bypass them. The operator's own page decides
  // itself.
  const hasHostedPage = !config.AUTH_OAUTH_SERVER_AUTHORIZATION_PATH
  const isFactorRequired =
    hasHostedPage && requiresFactor({ aal: signIn.aal, factors: user.factors })
  return { user, signIn, requiresFactor: isFactorRequired, ip: request.clientIp }
}

/** Rejects a page on another site, which must not respond for the user. Throws validation_failed. */
async function checkOrigin(
  { flows }: FastifyInstance,
  { headers: { origin } }: FastifyRequest,
): Promise<void> {
  if (origin !== undefined && !isAllowedRedirect(origin, flows.redirectRules)) {
    throw validationFailed('The origin of this request is not an allowed redirect target')
  }
}

function toDetails({ request, client }: OpenRequest, { user }: Answering): AuthorizationDetails {
  const { prompt, max_age, acr_values, login_hint, resources } = request.parameters ?? {}
  const { id_token_claims = [], userinfo_claims = [] } = request.parameters ?? {}
  const claims = [...new Set([...id_token_claims, ...userinfo_claims])]
  return {
    authorization_id: request.authorization_id,
    redirect_uri: request.redirect_uri,
    client: {
      id: client.clientId,
      ...(client.name && { name: client.name }),
      ...(client.uri && { uri: client.uri }),
      ...(client.logoUri && { logo_uri: client.logoUri }),
    },
    user: { id: user.id, ...(user.email && { email: user.email }) },
    scope: request.scope,
    ...(prompt && { prompt: prompt.join(' ') }),
    ...(max_age !== undefined && { max_age }),
    ...(acr_values && { acr_values }),
    ...(login_hint && { login_hint }),
    ...(resources && { resources }),
    ...(claims.length > 0 && { claims }),
  }
}

export default authorization
