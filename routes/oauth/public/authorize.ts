import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  type CreatedRequest,
  createAuthorizationRequest,
  type SentParameters,
} from '../../../modules/oauth-server/index.ts'
import { sendFormResponse, sendMessage, wayTo } from '../../../modules/pages/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { AuthorizationParameters, formOrJson } from '../../../schemas/oauth/request.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { ManyQuery } from '../../../schemas/values/query.ts'

const described = {
  tags: ['oauth'],
  response: { 302: NoBody, 303: NoBody, ...ErrorResponses, 400: PageOrError },
}

const getSchema = {
  summary: 'Authorization endpoint (RFC 6749): redirects to the consent page',
  querystring: ManyQuery,
  documented: { querystring: AuthorizationParameters },
  ...described,
}

const postSchema = {
  summary: 'Authorization endpoint by POST (OpenID Connect Core §3.1.2.1)',
  querystring: ManyQuery,
  body: Type.Union([ManyQuery, Type.Null()]),
  documented: { querystring: Type.Object({}), body: AuthorizationParameters },
  consumes: formOrJson,
  ...described,
}

const authorize: FastifyPluginAsyncTypebox = async (app) => {
  const { rateLimits } = app

  const policy = { rateLimit: rateLimits.oauthAuthorize }

  app.get('/oauth/authorize', { config: policy, schema: getSchema }, async (request, reply) =>
    begin(app, request, reply, request.query, 302),
  )

  app.post('/oauth/authorize', { config: policy, schema: postSchema }, async (request, reply) =>
    begin(app, request, reply, { ...request.query, ...request.body }, 303),
  )
}

async function begin(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  sent: SentParameters,
  status: 302 | 303,
) {
  const { config } = app
  const consentUrl = consentPage(config)
  let created: CreatedRequest
  try {
    created = await createAuthorizationRequest(app, sent, new Date())
  } catch (error) {
    return fail(app, request, reply, error)
  }
  reply.header('referrer-policy', 'no-referrer')
  if (created.state === 'rejected') {
    if (created.isSelfRegistered) return showError(app, request, reply, created)
    const { response } = created
    if (typeof response === 'string') return reply.redirect(response, status)
    return sendFormResponse(app, request, reply, response)
  }
  return reply.redirect(consentUrl(created.authorizationId), status)
}

/** Responds with JSON, as in the contract, unless a browser uses the hosted pages. */
function fail(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply, thrown: unknown) {
  const { apiErrors, config } = app
  const isAtPages = !config.AUTH_OAUTH_SERVER_AUTHORIZATION_PATH
  if (!isAtPages || !request.headers.accept?.includes('text/html')) throw thrown
  const { status, message } = apiErrors.report(request, thrown)
  return sendMessage(app, request, reply, {
    title: (say) => say('error_title'),
    status,
    text: (say) => say('rejected_app', { error: message }),
  })
}

/** The user decides whether to follow the link, because any client may have registered its target. */
function showError(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { error, response }: Extract<CreatedRequest, { state: 'rejected' }>,
) {
  if (typeof response !== 'string') {
    return sendFormResponse(app, request, reply, response, { error })
  }
  return sendMessage(app, request, reply, {
    title: (say) => say('error_title'),
    status: 400,
    text: (say) => say('rejected_request', { error }),
    wayOn: wayTo(response),
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
