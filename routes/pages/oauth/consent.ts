/** The consent page, and the page that posts its response to the client. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import {
  findAuthorization,
  type StoredAuthorization,
} from '../../../db/oauth-server/authorizations.ts'
import {
  approve,
  deny,
  findDataSite,
  findFormResponse,
  findIssuedCode,
  findMissing,
  isConsented,
  issueCode,
  type OpenRequest,
  openRequest,
  requestedScopes,
  respondSilently,
  scopeList,
} from '../../../modules/oauth-server/index.ts'
import {
  answerOnce,
  factorPage,
  findMissingProof,
  findRequiredFactor,
  findSignedIn,
  type SignedIn,
} from '../../../modules/page-session/index.ts'
import {
  getHost,
  listPolicyLinks,
  permissionLines,
  redirectToProof,
  redirectToSignIn,
  sendFormResponse,
  sendOnward,
  sendPage,
  sendToNext,
  sendUnknownRequest,
  toAnswering,
} from '../../../modules/pages/index.ts'
import type { RequiredFactor } from '../../../plugins/security/bearer-auth/session-policy.ts'
import { ApiError } from '../../../schemas/errors.ts'
import { OauthForm, readFormFields } from '../../../schemas/oauth/form.ts'
import { PageOrError } from '../../../schemas/page.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const getConsentPath = (id: string) => `/oauth/consent?authorization_id=${encodeURIComponent(id)}`

/** The page on which the user sees what the client requests, and decides. */
function sendConsentForm(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { request: authorization, client }: OpenRequest,
  { session }: SignedIn,
) {
  const base = app.config.AUTH_API_EXTERNAL_URL
  const host = getHost(authorization.redirect_uri)
  const name = client.name ?? host
  const { resources = [], ui_locales: locales } = authorization.parameters ?? {}
  return sendPage(app, request, reply, 'consent', {
    title: (say) => say('consent_title', { client: name }),
    next: getConsentPath(authorization.authorization_id),
    locales,
    data: (say) => ({
      account: session.email || session.phone || session.id,
      client: name,
      permissions: permissionLines(say, scopeList(requestedScopes(authorization)), {
        resources,
        site: findDataSite(app, client, resources),
      }),
      warnings: client.isSelfRegistered ? ['unverified'] : [],
      policies: listPolicyLinks(client),
      host: client.isDocument ? `${host} (${new URL(client.clientId).host})` : host,
      action: `${base}/oauth/consent`,
      fields: [['authorization_id', authorization.authorization_id]],
    }),
  })
}

const Query = Type.Object({ authorization_id: Type.Optional(Type.String()) })
const described = {
  tags: ['pages'],
  response: {
    200: PageOrError,
    302: NoBody,
    303: NoBody,
    400: PageOrError,
    404: PageOrError,
    410: PageOrError,
  },
}

const consent: FastifyPluginAsyncTypebox = async (app) => {
  const { form } = answerOnce(app)

  app.get(
    '/oauth/consent',
    { schema: { summary: 'Consent page', querystring: Query, ...described } },
    async (request, reply) => open(app, request, reply, request.query.authorization_id),
  )

  app.post(
    '/oauth/consent',
    { ...form, schema: { summary: 'Submit the consent page', body: OauthForm, ...described } },
    async (request, reply) => decide(app, request, reply, readFormFields(request.body)),
  )
}

/** Shows the page, or leads to what is missing before it. */
async function open(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply, id = '') {
  const { db } = app
  const now = new Date()
  const stored = await findAuthorization(db, id)
  if (!stored || stored.expires_at <= now) {
    return sendUnknownRequest(app, request, reply, stored)
  }
  const signedIn = await findSignedIn(app, request, now)
  if (stored.status !== 'pending') {
    return repeat(app, request, reply, { stored, signedIn, now })
  }
  const prompt = stored.parameters?.prompt ?? []
  const answering = signedIn && toAnswering(app, signedIn, request, now)
  if (prompt.includes('none')) {
    return reply.redirect(await respondSilently(app, stored, answering, now), 302)
  }
  const missing = answering ? findMissing(stored, answering) : 'sign_in'
  if (!signedIn || missing === 'sign_in') {
    return signInFirst(app, reply, stored, signedIn)
  }
  if (missing === 'second_factor') {
    const required = findRequiredFactor(app, signedIn) ?? getFactorStep(signedIn)
    return reply.redirect(factorPage(app, required, getConsentPath(id)), 303)
  }
  return showConsent(app, request, reply, stored, signedIn, now)
}

async function decide(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  { authorization_id: id = '', action }: Record<string, string>,
) {
  const { db } = app
  const now = new Date()
  const signedIn = await findSignedIn(app, request, now)
  if (!signedIn) return redirectToSignIn(app, reply, getConsentPath(id))
  const required = findRequiredFactor(app, signedIn)
  if (required) return reply.redirect(factorPage(app, required, getConsentPath(id)), 303)
  const missing = action === 'approve' ? await findMissingProof(app, signedIn, now) : undefined
  if (missing) return redirectToProof(app, reply, getConsentPath(id), missing)
  const answering = toAnswering(app, signedIn, request, now)
  try {
    const url = await db.transaction().execute(async (trx) => {
      const opened = await openRequest(trx, id, answering, now)
      const answer = action === 'approve' ? approve : deny
      return answer(app, trx, opened, answering, now)
    })
    return sendOnward(app, request, reply, url)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    // The page shows what has changed meanwhile: it was decided, or needs another sign-in.
    return sendToNext(app, request, reply, getConsentPath(id))
  }
}

/** A factor that the request demands, not the account: one to verify, or one to add. */
const getFactorStep = ({ session: { factors } }: SignedIn): RequiredFactor =>
  factors.some(({ status }) => status === 'verified') ? 'verification' : 'enrollment'

/** The page was loaded again after the code was issued. */
async function repeat(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    stored,
    signedIn,
    now,
  }: { stored: StoredAuthorization; signedIn: SignedIn | undefined; now: Date },
) {
  const answering = signedIn && toAnswering(app, signedIn, request, now)
  const issued =
    answering && (await findIssuedCode(app, app.db, stored.authorization_id, answering, now))
  return issued ? reply.redirect(issued, 302) : sendUnknownRequest(app, request, reply, stored)
}

/** Shows the page, or redirects for an existing consent. */
async function showConsent(
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
  stored: StoredAuthorization,
  signedIn: SignedIn,
  now: Date,
) {
  const { db } = app
  const { authorization_id: id } = stored
  const answering = toAnswering(app, signedIn, request, now)
  try {
    const outcome = await db.transaction().execute(async (trx) => {
      const opened = await openRequest(trx, id, answering, now, { mayRebind: true })
      if (!(await isConsented(trx, opened, answering))) return opened
      return issueCode(app, trx, opened.request, answering.signIn, now)
    })
    if (typeof outcome === 'string') return reply.redirect(outcome, 302)
    // Before the user reads the page: a sign-in afterwards would show it once more.
    const missing = await findMissingProof(app, signedIn, now)
    if (missing) return redirectToProof(app, reply, getConsentPath(id), missing)
    return sendConsentForm(app, request, reply, outcome, signedIn)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    if (error.errorCode === 'session_not_found') {
      return redirectToSignIn(app, reply, getConsentPath(id))
    }
    return sendUnknownRequest(app, request, reply, stored)
  }
}

/** A new user, another user, or another sign-in of the same one, as the request demands. */
function signInFirst(
  app: FastifyInstance,
  reply: FastifyReply,
  { authorization_id: id, parameters }: StoredAuthorization,
  signedIn: SignedIn | undefined,
) {
  const { login_hint: hint, prompt = [], sub } = parameters ?? {}
  const isSameUser = signedIn && (sub === undefined || sub === signedIn.session.id)
  return redirectToSignIn(app, reply, getConsentPath(id), {
    hint,
    ...(isSameUser && { reason: 'recent_sign_in' }),
    page: prompt.includes('create') ? '/sign-in/create' : '/sign-in',
  })
}

const Text = Type.Optional(Type.String())
const ResponseQuery = Type.Object({ authorization_id: Text, code: Text, error: Text })

/** Posts the response to a client that requested `response_mode=form_post`. */
const response: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    '/oauth/response',
    {
      schema: {
        summary:
          'Page that posts the authorization response to the client (response_mode=form_post)',
        tags: ['pages'],
        querystring: ResponseQuery,
        response: { 200: PageOrError, 404: PageOrError, 410: PageOrError },
      },
    },
    async (request, reply) => {
      const { authorization_id: id = '', ...outcome } = request.query
      const stored = await findAuthorization(db, id)
      const form = stored && findFormResponse(app, stored, outcome, new Date())
      if (form) return sendFormResponse(app, request, reply, form)
      return sendUnknownRequest(app, request, reply, stored)
    },
  )
}

export const consentRoutes = { consent, response }
