import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { findAuthorization } from '../../../db/oauth-server/authorizations.ts'
import {
  type Answering,
  approve,
  deny,
  findMissing,
  isConsented,
  issueCode,
  type OpenRequest,
  openRequest,
  requestedScopes,
  respondSilently,
  scopeList,
  toStoredAuthentication,
} from '../../../modules/oauth-server/index.ts'
import {
  checkForm,
  factorPage,
  findRequiredFactor,
  findSignedIn,
  type SignedIn,
} from '../../../modules/page-session/index.ts'
import {
  getHost,
  listPolicyLinks,
  permissionLines,
  sendOnward,
  sendPage,
} from '../../../modules/pages/index.ts'
import { ApiError } from '../../../schemas/errors.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const Query = Type.Object({ authorization_id: Type.Optional(Type.String()) })
const described = {
  tags: ['pages'],
  response: { 200: PageOrError, 302: NoBody, 303: NoBody, 400: PageOrError, 404: PageOrError },
}

const getPagePath = (id: string) => `/oauth/consent?authorization_id=${id}`

const consent: FastifyPluginAsyncTypebox = async (fastify) => {
  const { db } = fastify

  fastify.get(
    '/oauth/consent',
    { schema: { summary: 'Consent page', querystring: Query, ...described } },
    async (request, reply) => {
      const now = new Date()
      const id = request.query.authorization_id ?? ''
      const stored = await findAuthorization(db, id)
      if (!stored || stored.expires_at <= now || stored.status !== 'pending') {
        return fail(fastify, request, reply)
      }
      const signedIn = await findSignedIn(fastify, request, now)
      const prompt = stored.parameters?.prompt ?? []
      const answering = signedIn && toAnswering(fastify, signedIn, request, now)
      if (prompt.includes('none')) {
        return reply.redirect(await respondSilently(fastify, stored, answering, now), 302)
      }
      const missing = answering ? findMissing(stored, answering) : 'sign_in'
      if (!signedIn || missing === 'sign_in') {
        return signInFirst(fastify, reply, id, stored.parameters)
      }
      if (missing === 'second_factor') {
        const required = findRequiredFactor(fastify, signedIn) ?? 'verification'
        return reply.redirect(factorPage(fastify, required, getPagePath(id)), 303)
      }
      return showConsent(fastify, request, reply, id, signedIn, now)
    },
  )

  fastify.post(
    '/oauth/consent',
    { schema: { summary: 'Submit the consent page', body: OauthForm, ...described } },
    async (request, reply) => {
      const now = new Date()
      const { form_token, authorization_id: id = '', action } = readFormFields(request.body)
      checkForm(fastify, request, form_token)
      const signedIn = await findSignedIn(fastify, request, now)
      if (!signedIn || findRequiredFactor(fastify, signedIn)) {
        return signInFirst(fastify, reply, id, null)
      }
      const answering = toAnswering(fastify, signedIn, request, now)
      try {
        const url = await db.transaction().execute(async (trx) => {
          const opened = await openRequest(trx, id, answering, now)
          const answer = action === 'approve' ? approve : deny
          return answer(fastify, trx, opened, answering, now)
        })
        return sendOnward(fastify, request, reply, url)
      } catch (error) {
        if (!(error instanceof ApiError) || error.status >= 500) throw error
        return fail(fastify, request, reply)
      }
    },
  )
}

/** Shows the page, or redirects for an existing consent. */
async function showConsent(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
  signedIn: SignedIn,
  now: Date,
) {
  const { db } = fastify
  const answering = toAnswering(fastify, signedIn, request, now)
  try {
    const outcome = await db.transaction().execute(async (trx) => {
      const opened = await openRequest(trx, id, answering, now)
      if (!(await isConsented(trx, opened, answering))) return opened
      return issueCode(fastify, trx, opened.request, answering.signIn, now)
    })
    if (typeof outcome === 'string') return reply.redirect(outcome, 302)
    return showForm(fastify, request, reply, outcome, signedIn)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    return fail(fastify, request, reply)
  }
}

function showForm(
  fastify: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { request: authorization, client }: OpenRequest,
  { session }: SignedIn,
) {
  const base = fastify.config.AUTH_API_EXTERNAL_URL
  const host = getHost(authorization.redirect_uri)
  const name = client.name ?? host
  const { resources = [], ui_locales: locales } = authorization.parameters ?? {}
  return sendPage(fastify, request, reply, 'consent', {
    title: (say) => say('consent_title', { client: name }),
    next: getPagePath(authorization.authorization_id),
    locales,
    data: (say) => ({
      account: session.email || session.phone || session.id,
      client: name,
      permissions: permissionLines(say, scopeList(requestedScopes(authorization)), resources),
      warnings: client.isSelfRegistered ? ['unverified'] : [],
      policies: listPolicyLinks(client),
      host: client.isDocument ? `${host} (${new URL(client.clientId).host})` : host,
      action: `${base}/oauth/consent`,
      fields: [['authorization_id', authorization.authorization_id]],
    }),
  })
}

function signInFirst(
  { config }: FastifyInstance,
  reply: FastifyReply,
  id: string,
  parameters: { login_hint?: string; prompt?: string[] } | null,
) {
  const base = config.AUTH_API_EXTERNAL_URL
  const { login_hint: hint = '', prompt = [] } = parameters ?? {}
  const query = new URLSearchParams({ next: getPagePath(id), ...(hint && { login_hint: hint }) })
  const page = prompt.includes('create') ? '/sign-in/create' : '/sign-in'
  return reply.redirect(`${base}${page}?${query}`, 303)
}

function fail(fastify: FastifyInstance, request: FastifyRequest, reply: FastifyReply) {
  return sendPage(fastify, request, reply, 'message', {
    title: (say) => say('error_title'),
    status: 404,
    data: (say) => ({ text: say('error_request') }),
  })
}

function toAnswering(
  fastify: FastifyInstance,
  signedIn: SignedIn,
  { clientIp }: FastifyRequest,
  now: Date,
): Answering {
  const { session } = signedIn
  const signIn = toStoredAuthentication({ user: session, session, claims: {} }, now)
  const requiresFactor = findRequiredFactor(fastify, signedIn) !== undefined
  return { user: session, signIn, requiresFactor, ip: clientIp }
}

export default consent
