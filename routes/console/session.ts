import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { hasAdmins } from '../../db/admins/admins.ts'
import {
  accessTokenFor,
  checkForm,
  clearedCookie,
  endPageSession,
  ensureCookie,
  findSignedIn,
  formToken,
} from '../../modules/page-session/index.ts'
import { ConsoleUser, toConsoleUser } from '../../schemas/console/admin.ts'
import { AdminRole, adminRoleNames } from '../../schemas/console/admin-role.ts'
import { FormTokenHeader } from '../../schemas/console/form-token.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { notAdmin, sessionNotFound } from '../../schemas/errors.ts'
import { nullable, oneOfOrNull } from '../../schemas/values/choices.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const path = '/console/session'

const State = Type.Object({
  form_token: Type.String({ description: 'For the header X-Form-Token of changes' }),
  user: nullable(ConsoleUser),
  role: oneOfOrNull(adminRoleNames),
  required_factor: oneOfOrNull(['verification', 'enrollment'], {
    description: 'Of a second factor',
  }),
  has_admins: Type.Boolean(),
  sign_in_url: Type.String(),
  factor_url: Type.String(),
  account_url: nullable(
    Type.String({ description: 'Where a second factor is added; null without the account page' }),
  ),
})

const Token = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('bearer'),
  expires_in: Type.Integer(),
  expires_at: Type.Integer({ description: 'Seconds since the Unix epoch' }),
  role: AdminRole,
  user: ConsoleUser,
})

/** Lifetime of a console token in seconds; the console renews it before. */
const lifetime = 300

const readSchema = {
  summary: 'Get the console session',
  tags: ['console'],
  response: { 200: State, ...ErrorResponses },
}

const exchangeSchema = {
  summary: 'Exchange the cookie of the sign-in pages for a short-lived access token',
  tags: ['console'],
  headers: FormTokenHeader,
  response: { 200: Token, ...ErrorResponses },
}

const signOutSchema = {
  summary: 'Sign out of the console',
  tags: ['console'],
  headers: FormTokenHeader,
  response: { 204: NoBody, ...ErrorResponses },
}

const session: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, config, db, jwt, rateLimits } = app
  const policy = { rateLimit: rateLimits.console }
  const base = config.AUTH_API_EXTERNAL_URL
  const next = `next=${encodeURIComponent('/console')}`

  app.get(path, { config: policy, schema: readSchema }, async (request, reply) => {
    const now = new Date()
    const cookie = ensureCookie(app, request, reply)
    const signedIn = await findAccess(app, request, now)
    return {
      form_token: formToken(app, cookie),
      user: signedIn?.user ?? null,
      role: signedIn?.role ?? null,
      required_factor: signedIn?.requiredFactor ?? null,
      has_admins: await hasAdmins(db),
      sign_in_url: `${base}/sign-in?${next}`,
      factor_url: `${base}/sign-in/factor?${next}`,
      account_url: config.AUTH_ACCOUNT_PAGE_ENABLED ? `${base}/account/factors` : null,
    }
  })

  app.post(path, { config: policy, schema: exchangeSchema }, async (request) => {
    const now = new Date()
    checkForm(app, request, request.headers['x-form-token'])
    const found = await findAccess(app, request, now)
    if (!found) throw sessionNotFound()
    if (!found.role) throw notAdmin()
    if (found.requiredFactor) bearerAuth.throwIfRequired(found.requiredFactor)
    const token = await accessTokenFor(app, found.signedIn, now, lifetime)
    const { exp = 0 } = await jwt.verify(token)
    return {
      access_token: token,
      token_type: 'bearer' as const,
      expires_in: exp - Math.floor(now.getTime() / 1000),
      expires_at: exp,
      role: found.role,
      user: found.user,
    }
  })

  app.delete(path, { config: policy, schema: signOutSchema }, async (request, reply) => {
    const now = new Date()
    checkForm(app, request, request.headers['x-form-token'])
    const signedIn = await findSignedIn(app, request, now)
    if (signedIn) await endPageSession(app, signedIn, { ip: request.clientIp, now })
    return reply.header('set-cookie', clearedCookie(app)).status(204).send(null)
  })
}

async function findAccess(app: FastifyInstance, request: FastifyRequest, now: Date) {
  const { bearerAuth, jwt } = app
  const signedIn = await findSignedIn(app, request, now)
  if (!signedIn) return undefined
  const { session } = signedIn
  const claims = jwt.buildClaims(session, session, now)
  const access = await bearerAuth.findAccess({ claims, user: session }, now)
  return { ...access, signedIn, user: toConsoleUser(session) }
}

export default session
