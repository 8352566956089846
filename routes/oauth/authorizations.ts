/** What the current user allows clients: authorization requests to decide on, and earlier grants. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { findAuthorization } from '../../db/oauth-server/authorizations.ts'
import { authorizeAccess, hasAccessProof } from '../../modules/access/index.ts'
import { isAllowedRedirect } from '../../modules/flows/index.ts'
import {
  type Answering,
  approve,
  deny,
  findClientRowId,
  findDataSite,
  findIssuedCode,
  isConsented,
  issueCode,
  listGrants,
  type OpenRequest,
  openRequest,
  revokeGrant,
  toStoredAuthentication,
} from '../../modules/oauth-server/index.ts'
import { requiresFactor } from '../../modules/page-session/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { oauthAuthorizationNotFound, validationFailed } from '../../schemas/errors.ts'
import {
  AuthorizationDetails,
  AuthorizationPath,
  ConsentBody,
  OauthGrant,
  RedirectUrl,
} from '../../schemas/oauth/authorization.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const path = '/oauth/authorizations/:authorization_id'
const policy = { rejectsImpersonation: true }

const readSchema = {
  summary: 'Get an authorization request, for a custom consent page',
  description:
    'If the user already consented, the response has only `redirect_url`, with the issued code; a second read gets the same one, until it was exchanged. A public client needs a recent sign-in for that: without one the response has the request, and the approval asks for it.',
  tags: ['oauth'],
  params: AuthorizationPath,
  response: { 200: AuthorizationDetails, ...ErrorResponses },
}

const answerSchema = {
  summary: 'Approve or deny an authorization request',
  description: 'An approval needs a recent sign-in, as every change that gives access does.',
  tags: ['oauth'],
  params: AuthorizationPath,
  body: ConsentBody,
  response: { 200: RedirectUrl, ...ErrorResponses },
}

const authorization: FastifyPluginAsyncTypebox = async (app) => {
  const rejectForeignOrigin = (request: FastifyRequest) => checkOrigin(app, request)

  app.get(
    path,
    {
      config: policy,
      preHandler: rejectForeignOrigin,
      schema: readSchema,
    },
    async (request) => read(app, request),
  )

  app.post(
    `${path}/consent`,
    {
      config: policy,
      preHandler: rejectForeignOrigin,
      schema: answerSchema,
    },
    async (request) => decide(app, request),
  )
}

type Requesting = FastifyRequest<{ Params: Static<typeof AuthorizationPath> }>

/** The request for the page; of a request that needs no consent, the redirect URI with the code. */
async function read(app: FastifyInstance, request: Requesting): Promise<AuthorizationDetails> {
  const { db } = app
  const now = new Date()
  const { authorization_id: id } = request.params
  const isProven = await hasAccessProof(app, request, now)
  return db.transaction().execute(async (trx) => {
    const answering = await lockAnsweringUser(app, trx, request, now)
    const issued = await findIssuedCode(app, trx, id, answering, now)
    if (issued) return { redirect_url: issued }
    const known = await findAuthorization(trx, id)
    const opened = await openRequest(trx, id, answering, now)
    // At the first read only: a repeated read must not skip the consent.
    const mayBeSilent = !known?.user_id && (isProven || signsInSilently(app, opened))
    if (mayBeSilent && (await isConsented(trx, opened, answering))) {
      const { signIn } = answering
      return { redirect_url: await issueCode(app, trx, opened.request, signIn, now) }
    }
    return toDetails(app, opened, answering)
  })
}

/**
 * Whether an earlier consent is enough without a recent sign-in. A code is new access for the client that exchanges it,
 * and the reader of this response exchanges that of a public client. The hosted pages have a session of their own.
 */
const signsInSilently = ({ config }: FastifyInstance, { client }: OpenRequest): boolean =>
  Boolean(config.AUTH_OAUTH_SERVER_AUTHORIZATION_PATH) && client.type === 'confidential'

async function decide(
  app: FastifyInstance,
  request: Requesting & { body: Static<typeof ConsentBody> },
): Promise<{ redirect_url: string }> {
  const { db } = app
  const now = new Date()
  const { action } = request.body
  if (action !== 'approve' && action !== 'deny') {
    throw validationFailed('action must be approve or deny')
  }
  if (action === 'approve') await authorizeAccess(app, request, now)
  const { authorization_id: id } = request.params
  return db.transaction().execute(async (trx) => {
    const answering = await lockAnsweringUser(app, trx, request, now)
    const issued = await findIssuedCode(app, trx, id, answering, now)
    if (issued && action === 'approve') return { redirect_url: issued }
    const known = await findAuthorization(trx, id)
    // The user must have read the request before responding to it.
    if (known?.user_id !== answering.user.id) throw oauthAuthorizationNotFound()
    const opened = await openRequest(trx, id, answering, now)
    const answer = action === 'approve' ? approve : deny
    return { redirect_url: await answer(app, trx, opened, answering, now) }
  })
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

function toDetails(
  app: FastifyInstance,
  { request, client }: OpenRequest,
  { user }: Answering,
): AuthorizationDetails {
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
    data_access: findDataSite(app, client, resources ?? []) !== undefined,
    ...(claims.length > 0 && { claims }),
  }
}

const GrantQuery = Type.Object({ client_id: Type.Optional(Type.String()) })
const Grants = Type.Array(OauthGrant)
const grantsPath = '/user/oauth/grants'

const grants: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    grantsPath,
    {
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'List the grants of the current user, newest first',
        tags: ['oauth'],
        response: { 200: Grants, ...ErrorResponses },
      },
    },
    async (request) => listGrants(db, bearerAuth.getAuth(request).user.id),
  )

  app.delete(
    grantsPath,
    {
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Revoke a grant and the sessions of its client',
        tags: ['oauth'],
        querystring: GrantQuery,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const now = new Date()
      const clientId = await findClientRowId(db, request.query.client_id ?? '')
      if (!clientId) throw validationFailed('client_id must be the id of a client')
      await db.transaction().execute(async (trx) => {
        const { user } = await bearerAuth.reauthorize(trx, bearerAuth.getAuth(request), now)
        await revokeGrant(app, trx, user, clientId, { ip: request.clientIp, now })
      })
      return reply.status(204).send(null)
    },
  )
}

export const authorizationRoutes = { authorization, grants }
