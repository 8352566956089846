/**
 * Where an authorization begins: the authorization endpoint (RFC 6749 §3.1), pushed requests (RFC 9126) and device
 * codes (RFC 8628).
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  authenticateClient,
  type CreatedRequest,
  createAuthorizationRequest,
  createDeviceCode,
  deviceSeconds,
  findClient,
  pollSeconds,
  pushedRequestSeconds,
  pushRequest,
  type SentParameters,
  sentValue,
} from '../../modules/oauth-server/index.ts'
import { sendFormResponse, sendMessage, wayTo } from '../../modules/pages/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import {
  AuthorizationParameters,
  formOrJson,
  PushedParameters,
} from '../../schemas/oauth/request.ts'
import { ClientFields, requestedResources } from '../../schemas/oauth/token.ts'
import { PageOrError } from '../../schemas/page.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { ManyQuery } from '../../schemas/values/query.ts'

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

const Pushed = Type.Object({ request_uri: Type.String(), expires_in: Type.Integer() })

const pushEndpoint = '/oauth/par'

const pushedRequest: FastifyPluginAsyncTypebox = async (app) => {
  const { rateLimits } = app

  app.post(
    pushEndpoint,
    {
      config: { rateLimit: rateLimits.oauthAuthorize },
      schema: {
        summary: 'Pushed authorization request endpoint (RFC 9126)',
        description: 'The parameters of /oauth/authorize, sent by the client.',
        tags: ['oauth'],
        body: ManyQuery,
        documented: { body: PushedParameters },
        consumes: formOrJson,
        response: { 201: Pushed, ...ErrorResponses },
      },
    },
    async ({ body, headers }, reply) => {
      const now = new Date()
      const presented = {
        authorization: headers.authorization,
        endpoint: pushEndpoint,
        client_id: sentValue(body, 'client_id'),
        client_secret: sentValue(body, 'client_secret'),
        client_assertion: sentValue(body, 'client_assertion'),
        client_assertion_type: sentValue(body, 'client_assertion_type'),
      }
      const client = await authenticateClient(app, presented, now, findClient)
      const requestUri = await pushRequest(app, client, body, now)
      reply.status(201)
      return { request_uri: requestUri, expires_in: pushedRequestSeconds }
    },
  )
}

const Text = Type.String()

const DeviceFields = Type.Object(
  {
    scope: Type.Optional(Text),
    resource: Type.Optional(Type.Union([Text, Type.Array(Text)])),
    ...ClientFields,
  },
  { title: 'DeviceAuthorizationRequest' },
)

/** Nothing is required of a client that authenticates with Basic. */
const DeviceBody = Type.Union([DeviceFields, Type.Null()])

const DeviceCodes = Type.Object({
  device_code: Text,
  user_code: Text,
  verification_uri: Text,
  verification_uri_complete: Text,
  expires_in: Type.Integer(),
  interval: Type.Integer(),
})

const deviceEndpoint = '/oauth/device_authorization'

const deviceAuthorization: FastifyPluginAsyncTypebox = async (app) => {
  const { config, rateLimits } = app
  const page = `${config.AUTH_API_EXTERNAL_URL}/oauth/device`

  app.post(
    deviceEndpoint,
    {
      config: { rateLimit: rateLimits.oauthAuthorize },
      schema: {
        summary: 'Device authorization endpoint (RFC 8628)',
        tags: ['oauth'],
        body: DeviceBody,
        consumes: formOrJson,
        response: { 200: DeviceCodes, ...ErrorResponses },
      },
    },
    async ({ body, headers }) => {
      const now = new Date()
      const presented = { ...body, authorization: headers.authorization, endpoint: deviceEndpoint }
      const client = await authenticateClient(app, presented, now, findClient)
      const requested = { scope: body?.scope, resources: requestedResources(body ?? {}) }
      const { deviceCode, userCode } = await createDeviceCode(app, client, requested, now)
      return {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?user_code=${userCode}`,
        expires_in: deviceSeconds,
        interval: pollSeconds,
      }
    },
  )
}

export const authorizeRoutes = { authorize, pushedRequest, deviceAuthorization }
