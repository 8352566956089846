import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Trx } from '../../db/database.ts'
import { badOauthCallback, badOauthState } from '../../errors.ts'
import type { OauthFlow } from '../../plugins/accounts/flows/oauth-state.ts'
import type { OauthPerson, SignInOutcome } from '../../plugins/accounts/identities/oauth-sign-in.ts'
import { NoBody } from '../../schemas/empty.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { firstValues, ManyQuery } from '../../schemas/query.ts'

type Params = Record<string, string>
type Accepted = Extract<SignInOutcome, { state: 'accepted' }>

interface Asked {
  request: FastifyRequest
  flow: OauthFlow
  person: OauthPerson
}

/** Empty where the query says it all. */
const Form = Type.Union([ManyQuery, Type.Null()])

const described = {
  tags: ['external'],
  querystring: ManyQuery,
  response: { 302: NoBody, 303: NoBody, ...ErrorResponses },
}

const policy = { signIn: () => 'oauth' }

const callback: FastifyPluginAsyncTypebox = async (fastify) => {
  const { apiErrors, audit, config, db, flows, identities } = fastify
  const { oauthProviders, sessions } = fastify

  fastify.get(
    '/callback',
    {
      config: policy,
      schema: { summary: 'Where providers send the browser back to', ...described },
    },
    (request, reply) => comeBack(request, reply, firstValues(request.query)),
  )

  fastify.post(
    '/callback',
    {
      config: policy,
      schema: {
        summary: 'The same for providers that post a form (Apple)',
        body: Form,
        ...described,
      },
    },
    (request, reply) =>
      comeBack(request, reply, {
        ...firstValues(request.query),
        ...firstValues(request.body ?? {}),
      }),
  )

  /** Without a state that is ours, nobody knows where the browser wanted to go. */
  async function comeBack(request: FastifyRequest, reply: FastifyReply, params: Params) {
    const now = new Date()
    reply.header('referrer-policy', 'no-referrer')
    let flow: OauthFlow
    try {
      flow = await flows.findOauth(params.state ?? '', now)
      // Nothing is spent: whoever has the address could otherwise keep the right browser out.
      if (!flows.isRightBrowser(request, flow)) {
        throw badOauthState('The sign-in was begun in another browser')
      }
    } catch (thrown) {
      const error = apiErrors.report(request, thrown)
      const site = flows.withOauthError(config.AUTH_SITE_URL, error, { inFragment: false })
      return reply.redirect(site, 303)
    }
    if (flow.browserHash) reply.header('set-cookie', flows.clearedCookie(flow))
    try {
      return reply.redirect(await finish(request, flow, params, now), 302)
    } catch (thrown) {
      const error = apiErrors.report(request, thrown)
      const target = flows.withOauthError(flow.target, error, { inFragment: true })
      return reply.redirect(target, 302)
    }
  }

  /** Ends the sign-in. The address to send the browser to. */
  async function finish(request: FastifyRequest, flow: OauthFlow, params: Params, now: Date) {
    checkAnswer(params)
    const { provider, emailOptional, secrets, target } = flow
    oauthProviders.checkSupported(provider)
    await flows.claimOauth(flow)
    const identity = await oauthProviders.identify(provider, { params, secrets, now })
    const person = { provider, identity, emailOptional }
    identities.requireAddress(person)

    const outcome = await signIn(request, flow, person, now)
    if (outcome.state === 'refused') throw outcome.error
    if (outcome.state === 'code') return flows.withCode(target, outcome.code)
    const tokens = {
      provider_token: identity.providerToken,
      provider_refresh_token: identity.providerRefreshToken,
    }
    const session = await sessions.answer(outcome.opened, now)
    return flows.withSession(target, session, { provider, ...tokens })
  }

  /** The account, and in the same transaction the code or the session that its client gets. */
  async function signIn(request: FastifyRequest, flow: OauthFlow, person: OauthPerson, now: Date) {
    const { audience: aud, clientIp: ip } = request
    const { baseUrl } = flows.linkContext(request, {})
    const approval = await identities.approve(db, person, flow, { aud, ip })
    const links = { redirectTo: flow.target, baseUrl, pkce: undefined }
    const context = { ip, aud, approval, links }
    return db.transaction().execute(async (trx) => {
      const found = await identities.completeSignIn(trx, person, flow, context, now)
      if (found.state === 'refused') return found
      const complete = flow.pkce ? issueCode : openSession
      return complete(trx, { request, flow, person }, found, now)
    })
  }

  async function issueCode(
    trx: Trx,
    { request, flow, person }: Asked,
    { user, action }: Accepted,
    now: Date,
  ) {
    // The exchange of the code is the sign-in; what comes before it is recorded here.
    const isRecorded = action === 'login' || action === 'identity_linked'
    const record = { ip: request.clientIp, now, traits: { provider: flow.provider } }
    if (!isRecorded) await audit.record(trx, action, user, record)
    const code = await flows.issueOauthCode(trx, flow, user.id, person.identity, now)
    return { state: 'code' as const, code }
  }

  async function openSession(
    trx: Trx,
    { request: { client, clientIp: ip }, flow: { provider } }: Asked,
    { user, action }: Accepted,
    now: Date,
  ) {
    const isLinked = action === 'identity_linked'
    const entry = isLinked ? undefined : audit.entry(action, user, ip, { provider })
    const opened = await sessions.open(trx, user, { method: 'oauth', client, audit: entry }, now)
    return { state: 'opened' as const, opened }
  }

  function checkAnswer(params: Params): void {
    const fault = oauthProviders.answerFault(params)
    if (fault) throw fault
    if (params.code || params.oauth_token) return
    throw badOauthCallback('The callback has no authorization code')
  }
}

export default callback
