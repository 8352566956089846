import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { type ApiError, badOauthCallback, providerRefused } from '../errors.ts'
import type { ExternalFlow } from '../plugins/accounts/external-flows.ts'
import { NoBody } from '../schemas/empty.ts'
import { ErrorResponses } from '../schemas/error.ts'
import { firstValues, ManyQuery } from '../schemas/query.ts'

type Params = Record<string, string>

const callback: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, config, db, externalFlows, externalSignIns, identities, links } = fastify
  const { oauthProviders, redirects, sessions } = fastify

  const described = {
    tags: ['external'],
    querystring: ManyQuery,
    response: { 302: NoBody, 303: NoBody, ...ErrorResponses },
  }

  fastify.get(
    '/callback',
    { schema: { summary: 'Where providers send the browser back to', ...described } },
    (request, reply) => comeBack(request, reply, firstValues(request.query)),
  )

  fastify.post(
    '/callback',
    {
      schema: {
        summary: 'The same for providers that post a form (Apple)',
        body: ManyQuery,
        ...described,
      },
    },
    (request, reply) =>
      comeBack(request, reply, { ...firstValues(request.query), ...firstValues(request.body) }),
  )

  /** Without a state that is ours, nobody knows where the browser wanted to go. */
  async function comeBack(request: FastifyRequest, reply: FastifyReply, params: Params) {
    const now = new Date()
    reply.header('referrer-policy', 'no-referrer')
    let flow: ExternalFlow
    try {
      flow = await externalFlows.find(params.state ?? '', now)
    } catch (thrown) {
      const error = refusal(request, thrown)
      return reply.redirect(redirects.withOauthError(config.AUTH_SITE_URL, error, false), 303)
    }
    try {
      return reply.redirect(await finish(request, flow, params, now), 302)
    } catch (thrown) {
      const error = refusal(request, thrown)
      return reply.redirect(redirects.withOauthError(flow.target, error, true), 302)
    }
  }

  async function finish(
    request: FastifyRequest,
    flow: ExternalFlow,
    params: Params,
    now: Date,
  ): Promise<string> {
    checkAnswer(params)
    oauthProviders.checkSupported(flow.provider)
    await externalFlows.claim(flow)
    const { provider, emailOptional, secrets, target } = flow
    const identity = await oauthProviders.identify(provider, { params, secrets, now })
    const person = { provider, identity, emailOptional }
    externalSignIns.requireAddress(person)
    const { baseUrl } = links.contextOf(request, {})
    const context = {
      ip: request.clientIp,
      links: { redirectTo: target, baseUrl, pkce: undefined },
    }

    const outcome = await db.transaction().execute(async (trx) => {
      const { linkingTargetId, inviteToken } = flow
      const found = linkingTargetId
        ? await identities.link(trx, linkingTargetId, person, context, now)
        : inviteToken
          ? await externalSignIns.acceptInvitation(trx, inviteToken, person, now)
          : await externalSignIns.signIn(trx, person, context, now)
      if (found.state === 'refused') return found
      const { user, action } = found
      const ip = request.clientIp
      if (flow.pkce) {
        // The exchange of the code is the sign-in; what comes before it is told here.
        const isTold = action === 'login' || action === 'identity_linked'
        if (!isTold) await audit.record(trx, action, user, { ip, now, traits: { provider } })
        const code = await externalFlows.issueCode(trx, flow, user.id, identity, now)
        return { state: 'accepted' as const, location: redirects.withCode(target, code) }
      }
      const entry =
        action === 'identity_linked' ? undefined : audit.entry(action, user, ip, { provider })
      const opening = { method: 'oauth' as const, client: request.client, audit: entry }
      const session = await sessions.issue(trx, user, opening, now)
      const location = redirects.withSession(target, session, {
        provider,
        provider_token: identity.providerToken,
        provider_refresh_token: identity.providerRefreshToken,
      })
      return { state: 'accepted' as const, location }
    })
    if (outcome.state === 'refused') throw outcome.error
    return outcome.location
  }

  /** The provider's own words may be anything, so they go to the log and no further. */
  function checkAnswer({ error, denied, code, oauth_token }: Params) {
    if (denied) throw providerRefused('access_denied')
    if (error) throw providerRefused(/^[a-z_]{1,64}$/.test(error) ? error : 'server_error')
    if (!code && !oauth_token) throw badOauthCallback('The callback has no authorization code')
  }

  function refusal(request: FastifyRequest, thrown: unknown): ApiError {
    const error = fastify.toApiError(thrown)
    const { cause } = error.details
    if (error.status >= 500) request.log.error({ err: cause ?? error }, error.message)
    else request.log.info({ error_code: error.errorCode, err: cause }, error.message)
    return error
  }
}

export default callback
