import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { recordAudit } from '../../modules/audit/index.ts'
import {
  type AuthorizationState,
  clearedStateCookie,
  consumeState,
  findStateTarget,
  isSameBrowser,
  issueOauthCode,
  loadAuthorizationState,
  readLinkContext,
  redirectWithCode,
  redirectWithOauthError,
  redirectWithSession,
} from '../../modules/flows/index.ts'
import {
  type AcceptedSignIn,
  completeExternalSignIn,
  createExternalSession,
  type ExternalUser,
  permitExternalUser,
  requireProviderEmail,
} from '../../modules/identities/index.ts'
import { joinByConnection, permitConnectionJoin } from '../../modules/organizations/index.ts'
import { isPagesCallback, pagesTargetIn } from '../../modules/page-session/index.ts'
import { toTokenResponse } from '../../modules/sessions/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { badOauthCallback, badOauthState } from '../../schemas/errors.ts'
import { CallbackQuery } from '../../schemas/external.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { firstValues, ManyQuery } from '../../schemas/values/query.ts'

type Params = Record<string, string>

/** Empty when the query has all parameters. */
const Form = Type.Union([ManyQuery, Type.Null()])

const described = {
  tags: ['external'],
  querystring: ManyQuery,
  documented: { querystring: CallbackQuery },
  response: { 302: NoBody, 303: NoBody, ...ErrorResponses },
}

const posted = {
  ...described,
  consumes: ['application/x-www-form-urlencoded'],
  body: Form,
  documented: { querystring: CallbackQuery, body: CallbackQuery },
}

const Path = Type.Object({ provider: Type.String() })

const callback: FastifyPluginAsyncTypebox = async (app) => {
  const config = { rateLimit: app.rateLimits.authorize, signIn: () => 'oauth' }
  const ofOne = '/providers/:provider/callback'

  app.get(
    '/callback',
    { config, schema: { summary: 'Redirect URI of external providers', ...described } },
    (request, reply) => handleCallback(app, request, reply, { params: paramsIn(request) }),
  )

  app.post(
    '/callback',
    { config, schema: { summary: 'Redirect URI of external providers by form', ...posted } },
    (request, reply) => handleCallback(app, request, reply, { params: paramsIn(request) }),
  )

  app.get(
    ofOne,
    { config, schema: { summary: 'Redirect URI of one provider', params: Path, ...described } },
    (request, reply) => {
      const received = { params: paramsIn(request), at: request.params.provider }
      return handleCallback(app, request, reply, received)
    },
  )

  app.post(
    ofOne,
    {
      config,
      schema: { summary: 'Redirect URI of one provider by form', params: Path, ...posted },
    },
    (request, reply) => {
      const received = { params: paramsIn(request), at: request.params.provider }
      return handleCallback(app, request, reply, received)
    },
  )
}

interface Received {
  /** Of the query and, with form_post, of the form. */
  params: Params
  /** The provider in the path. */
  at?: string
}

function paramsIn({ query, body }: { query: Static<typeof ManyQuery>; body: unknown }): Params {
  return { ...firstValues(query), ...(Value.Check(ManyQuery, body) && firstValues(body)) }
}

/** Without a valid state the redirect target is unknown, except for sign-ins of the hosted pages. */
async function handleCallback(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  received: Received,
) {
  const { apiErrors, config } = app
  const now = new Date()
  reply.header('referrer-policy', 'no-referrer')
  let flow: AuthorizationState
  try {
    flow = await loadAuthorizationState(app, received.params.state ?? '', now)
    // The state is not consumed: otherwise any client with the URL could block the browser that started the flow.
    if (!isSameBrowser(app, request, flow)) {
      throw badOauthState('The sign-in was started in another browser')
    }
  } catch (thrown) {
    const error = apiErrors.report(request, thrown)
    const target = (await findPagesTarget(app, request, received.params)) ?? config.AUTH_SITE_URL
    return reply.redirect(redirectWithOauthError(target, error, { inFragment: false }), 303)
  }
  if (flow.browserHash) reply.header('set-cookie', clearedStateCookie(app, flow))
  try {
    return reply.redirect(await finish(app, request, flow, received, now), 302)
  } catch (thrown) {
    const error = apiErrors.report(request, thrown)
    const target = redirectWithOauthError(flow.target, error, { inFragment: true })
    return reply.redirect(target, 302)
  }
}

/** For a sign-in that the hosted pages started: they can start it again. */
async function findPagesTarget(
  app: FastifyInstance,
  request: FastifyRequest,
  { state = '' }: Params,
): Promise<string | undefined> {
  const target = await findStateTarget(app, state)
  if (target !== undefined) return isPagesCallback(app, target) ? target : undefined
  // A state that was used before is gone: the user went back to the provider.
  return pagesTargetIn(app, request)
}

/** Completes the sign-in and returns the redirect target. */
async function finish(
  app: FastifyInstance,
  request: FastifyRequest,
  flow: AuthorizationState,
  { params, at }: Received,
  now: Date,
) {
  const { db, oauthProviders } = app
  checkCallback(app, params)
  const { provider, emailOptional, secrets, target } = flow
  await oauthProviders.checkCallback(provider, { at, iss: params.iss })
  await consumeState(app, flow)
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
  const session = await toTokenResponse(app, outcome.opened, now)
  return redirectWithSession(target, session, { provider, ...tokens })
}

function checkCallback({ oauthProviders }: FastifyInstance, params: Params): void {
  const fault = oauthProviders.toCallbackError(params)
  if (fault) throw fault
  if (params.code || params.oauth_token) return
  throw badOauthCallback('The callback has no authorization code')
}

// Handles a provider's response: the account and, in the same transaction, the code or session for the client.

interface CallbackInput {
  request: FastifyRequest
  flow: AuthorizationState
  user: ExternalUser
}

/** Resolves the account and, in the same transaction, issues the code or creates the session. */
async function signIn(
  app: FastifyInstance,
  request: FastifyRequest,
  flow: AuthorizationState,
  user: ExternalUser,
  now: Date,
) {
  const { db } = app
  const { audience: aud, clientIp: ip } = request
  const { baseUrl, network } = readLinkContext(app, request, {})
  const permit = await permitExternalUser(app, db, user, flow, { aud, ip })
  const connection = await permitConnectionJoin(app, user, ip)
  const links = { redirectTo: flow.target, baseUrl, pkce: linkPkce(app, flow), network }
  const context = { ip, aud, permit, links }
  return db.transaction().execute(async (trx) => {
    const found = await completeExternalSignIn(app, trx, user, flow, context, now)
    if (found.state === 'rejected') return found
    if (connection) {
      const { identity } = user
      await joinByConnection(app, trx, connection, found.user, { identity, ip }, now)
    }
    const complete = flow.pkce ? issueCode : openSession
    return complete(app, trx, { request, flow, user }, found, now)
  })
}

/** The link of a confirmation email: of the apps only ours completes a sign-in by a code of it. */
function linkPkce(app: FastifyInstance, { target, pkce }: AuthorizationState) {
  const { code_challenge: challenge, code_challenge_method: method } = pkce ?? {}
  return isPagesCallback(app, target) && challenge && method ? { challenge, method } : undefined
}

async function issueCode(
  app: FastifyInstance,
  trx: Trx,
  { request, flow, user: externalUser }: CallbackInput,
  { user, action }: AcceptedSignIn,
  now: Date,
) {
  // The code exchange records the sign-in; other actions are recorded here.
  const isRecorded = action === 'login' || action === 'identity_linked'
  const record = { ip: request.clientIp, now, traits: { provider: flow.provider } }
  if (!isRecorded) await recordAudit(app.audit, trx, action, user, record)
  const code = await issueOauthCode(app, trx, flow, user.id, externalUser.identity, now)
  return { state: 'code' as const, code }
}

async function openSession(
  app: FastifyInstance,
  trx: Trx,
  { request: { clientInfo, clientIp: ip }, flow: { provider } }: CallbackInput,
  found: AcceptedSignIn,
  now: Date,
) {
  const client = { provider, clientInfo, ip }
  const opened = await createExternalSession(app, trx, found, client, now)
  return { state: 'opened' as const, opened }
}

export default callback
