import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  type AuthorizationState,
  clearedStateCookie,
  consumeState,
  isSameBrowser,
  loadAuthorizationState,
  redirectWithCode,
  redirectWithOauthError,
  redirectWithSession,
} from '../../../modules/flows/index.ts'
import { requireProviderEmail } from '../../../modules/identities/index.ts'
import { toTokenResponse } from '../../../modules/sessions/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { badOauthCallback, badOauthState } from '../../../schemas/errors.ts'
import { CallbackQuery } from '../../../schemas/external.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../../schemas/values/query.ts'
import { signIn } from './sign-in.ts'

type Params = Record<string, string>

/** Empty when the query has all parameters. */
const Form = Type.Union([ManyQuery, Type.Null()])

const described = {
  tags: ['external'],
  querystring: ManyQuery,
  documented: { querystring: CallbackQuery },
  response: { 302: NoBody, 303: NoBody, ...ErrorResponses },
}

const callback: FastifyPluginAsyncTypebox = async (fastify) => {
  const policy = { rateLimit: fastify.rateLimits.authorize, signIn: () => 'oauth' }

  fastify.get(
    '/callback',
    {
      config: policy,
      schema: { summary: 'Redirect URI of external providers', ...described },
    },
    (request, reply) => handleCallback(fastify, request, reply, firstValues(request.query)),
  )

  fastify.post(
    '/callback',
    {
      config: policy,
      schema: {
        summary: 'Redirect URI of external providers that use form_post (Apple)',
        consumes: ['application/x-www-form-urlencoded'],
        body: Form,
        ...described,
        documented: { querystring: CallbackQuery, body: CallbackQuery },
      },
    },
    (request, reply) =>
      handleCallback(fastify, request, reply, {
        ...firstValues(request.query),
        ...firstValues(request.body ?? {}),
      }),
  )
}

/** Without a valid state the redirect target is unknown. */
async function handleCallback(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  params: Params,
) {
  const { apiErrors, config, flows } = app
  const now = new Date()
  reply.header('referrer-policy', 'no-referrer')
  let flow: AuthorizationState
  try {
    flow = await loadAuthorizationState(flows, params.state ?? '', now)
    // The state is not consumed: otherwise any client with the URL could block the browser that started the flow.
    if (!isSameBrowser(flows, request, flow)) {
      throw badOauthState('The sign-in was started in another browser')
    }
  } catch (thrown) {
    const error = apiErrors.report(request, thrown)
    const site = redirectWithOauthError(config.AUTH_SITE_URL, error, { inFragment: false })
    return reply.redirect(site, 303)
  }
  if (flow.browserHash) reply.header('set-cookie', clearedStateCookie(flows, flow))
  try {
    return reply.redirect(await finish(app, request, flow, params, now), 302)
  } catch (thrown) {
    const error = apiErrors.report(request, thrown)
    const target = redirectWithOauthError(flow.target, error, { inFragment: true })
    return reply.redirect(target, 302)
  }
}

/** Completes the sign-in and returns the redirect target. */
async function finish(
  app: FastifyInstance,
  request: FastifyRequest,
  flow: AuthorizationState,
  params: Params,
  now: Date,
) {
  const { db, flows, oauthProviders, sessions } = app
  checkCallback(app, params)
  const { provider, emailOptional, secrets, target } = flow
  await oauthProviders.checkSupported(provider)
  await consumeState(flows, flow)
  const identity = await oauthProviders.identify(provider, { params, secrets, now })
  const user = { provider, identity, emailOptional }
  await requireProviderEmail(db, user)

  const outcome = await signIn(app, request, flow, user, now)
  if (outcome.state === 'rejected') throw outcome.error
  if (outcome.state === 'code') return redirectWithCode(target, outcome.code)
  const tokens = {
    provider_token: identity.providerToken,
    provider_refresh_token: identity.providerRefreshToken,
  }
  const session = await toTokenResponse(sessions, outcome.opened, now)
  return redirectWithSession(target, session, { provider, ...tokens })
}

function checkCallback({ oauthProviders }: FastifyInstance, params: Params): void {
  const fault = oauthProviders.toCallbackError(params)
  if (fault) throw fault
  if (params.code || params.oauth_token) return
  throw badOauthCallback('The callback has no authorization code')
}

export default callback
