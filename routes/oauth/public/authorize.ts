import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  type CreatedRequest,
  createAuthorizationRequest,
  type SentParameters,
} from '../../../modules/oauth-server/index.ts'
import { getHost, sendPage } from '../../../modules/pages/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { ManyQuery } from '../../../schemas/values/query.ts'

const described = {
  tags: ['oauth'],
  response: { 302: NoBody, 303: NoBody, ...ErrorResponses, 400: PageOrError },
}

const getSchema = {
  summary: 'Authorization endpoint (RFC 6749): redirects to the consent page',
  description:
    'Query: client_id, redirect_uri, response_type, scope, state, nonce, code_challenge, code_challenge_method, ' +
    'resource, prompt, max_age, login_hint, acr_values, claims, ui_locales, id_token_hint, request_uri.',
  querystring: ManyQuery,
  ...described,
}

const postSchema = {
  summary: 'Authorization endpoint by POST (OpenID Connect Core §3.1.2.1)',
  querystring: ManyQuery,
  body: Type.Union([ManyQuery, Type.Null()]),
  ...described,
}

const authorize: FastifyPluginAsyncTypebox = async (fastify) => {
  const { rateLimits } = fastify

  const policy = { rateLimit: rateLimits.oauthAuthorize }

  fastify.get('/oauth/authorize', { config: policy, schema: getSchema }, async (request, reply) =>
    begin(fastify, request, reply, request.query, 302),
  )

  fastify.post('/oauth/authorize', { config: policy, schema: postSchema }, async (request, reply) =>
    begin(fastify, request, reply, { ...request.query, ...request.body }, 303),
  )
}

async function begin(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  sent: SentParameters,
  status: 302 | 303,
) {
  const { config, db, flows, httpClient, jwt, log } = fastify
  const consentUrl = consentPage(config)
  const deps = { config, db, flows, httpClient, jwt, log }
  let created: CreatedRequest
  try {
    created = await createAuthorizationRequest(deps, sent, new Date())
  } catch (error) {
    return fail(fastify, request, reply, error)
  }
  reply.header('referrer-policy', 'no-referrer')
  if (created.state === 'rejected') {
    if (created.isSelfRegistered) return showError(fastify, request, reply, created)
    return reply.redirect(created.redirectUrl, status)
  }
  return reply.redirect(consentUrl(created.authorizationId), status)
}

/** Responds with JSON, as in the contract, unless a browser uses the hosted pages. */
function fail(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  thrown: unknown,
) {
  const { apiErrors, config } = fastify
  const isAtPages = !config.AUTH_OAUTH_SERVER_AUTHORIZATION_PATH
  if (!isAtPages || !request.headers.accept?.includes('text/html')) throw thrown
  const { status, message } = apiErrors.report(request, thrown)
  return sendPage(fastify, request, reply, 'message', {
    title: (say) => say('error_title'),
    status,
    data: (say) => ({ text: say('rejected_app', { error: message }) }),
  })
}

/** The user decides whether to follow the link, because any client may have registered its target. */
function showError(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { error, redirectUrl }: Extract<CreatedRequest, { state: 'rejected' }>,
) {
  return sendPage(fastify, request, reply, 'message', {
    title: (say) => say('error_title'),
    status: 400,
    data: (say) => ({
      text: say('rejected_request', { error }),
      link: redirectUrl,
      host: getHost(redirectUrl),
    }),
  })
}

/** The consent page: the operator's own, or the hosted one. */
function consentPage({
  AUTH_API_EXTERNAL_URL,
  AUTH_OAUTH_SERVER_AUTHORIZATION_PATH: path,
  AUTH_SITE_URL,
}: FastifyInstance['config']) {
  const page = path
    ? `${AUTH_SITE_URL.replace(/\/$/, '')}/${path.replace(/^\//, '')}`
    : `${AUTH_API_EXTERNAL_URL}/oauth/consent`
  return (id: string) => `${page}${page.includes('?') ? '&' : '?'}authorization_id=${id}`
}

export default authorize
