/** Verification of email links, and of codes that the user types (code.ts). */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { createAuditEntry, recordAudit } from '../../../modules/audit/index.ts'
import {
  consumeOtp,
  emailChangeHalfConfirmed,
  isOtpValid,
  requireLinkType,
  type VerificationResult,
} from '../../../modules/credentials/index.ts'
import {
  issuePkceCode,
  redirectWithCode,
  redirectWithError,
  redirectWithMessage,
  redirectWithSession,
  resolveTarget,
} from '../../../modules/flows/index.ts'
import { getLinkMethod, isPkce } from '../../../modules/otp/index.ts'
import {
  answerOnce,
  ensureCookie,
  formToken,
  isOpenedWhereRequested,
} from '../../../modules/page-session/index.ts'
import type { Exchange } from '../../../modules/pages/index.ts'
import { createSession, toTokenResponse } from '../../../modules/sessions/index.ts'
import { choices, needed } from '../../../schemas/documented.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { linkExpired, linkOpenedElsewhere, validationFailed } from '../../../schemas/errors.ts'
import { HtmlPage } from '../../../schemas/page.ts'
import { Session } from '../../../schemas/session.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { firstValues } from '../../../schemas/values/query.ts'
import { PartialVerification, VerifyBody } from '../../../schemas/verify.ts'
import { codeVerification } from './code.ts'

/** An email link. */
const Query = Type.Object({
  token: Type.Optional(Type.String()),
  token_hash: Type.Optional(Type.String()),
  type: Type.Optional(
    Type.String({
      ...needed,
      ...choices('signup', 'invite', 'recovery', 'magiclink', 'email_change'),
    }),
  ),
  redirect_to: Type.Optional(Type.String()),
})

const Verified = Type.Union([Session, PartialVerification])

const linkSchema = {
  summary: 'Verify an email link: creates a session and redirects to the site',
  tags: ['auth'],
  querystring: Query,
  response: { 200: HtmlPage, 303: NoBody, ...ErrorResponses },
}

const codeSchema = {
  summary: 'Verify a one-time code or token hash: creates a session',
  tags: ['auth'],
  body: VerifyBody,
  response: { 200: Verified, 303: NoBody, ...ErrorResponses },
}

const verify: FastifyPluginAsyncTypebox = async (app) => {
  const { config, pages, rateLimits } = app
  const verifyCode = codeVerification(app)
  const { link: once } = answerOnce(app)
  const policy = { rateLimit: rateLimits.verify, signIn: () => 'otp' }

  app.get(
    '/verify',
    {
      // Templates may add parameters to the link.
      preValidation: async (request) => {
        request.query = firstValues(request.query)
      },
      config: policy,
      schema: linkSchema,
    },
    async (request, reply) => {
      const exchange = { request, reply }
      const link = readLink(app, request, request.query)
      if (config.AUTH_MAILER_LINK_CONFIRMATION || isPrefetch(request)) {
        const errorTarget = await findLinkError(app, request, link, new Date())
        return errorTarget ? leave(reply, errorTarget) : showConfirmation(app, exchange, link)
      }
      return leave(reply, await openLink(app, request, link, new Date()))
    },
  )

  // Link scanners send HEAD requests. Nothing is read or consumed.
  app.head('/verify', { config: policy }, (_request, reply) =>
    reply.headers(pages.headers).type('text/html; charset=utf-8').send(),
  )

  app.post('/verify', { config: policy, schema: codeSchema, ...once }, async (request, reply) => {
    const { body } = request
    if (!body.open_link) return verifyCode(body, request, new Date())
    return leave(reply, await openLink(app, request, readLink(app, request, body), new Date()))
  })
}

/** The URL has a token or code, which must not be sent as a Referer. */
function leave(reply: FastifyReply, location: string) {
  return reply.header('referrer-policy', 'no-referrer').redirect(location, 303)
}

/** Browsers mark prefetches (Fetch standard, Sec-Purpose). */
function isPrefetch({ headers }: FastifyRequest): boolean {
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-purpose'], headers['x-moz']]
  return purposes.some((purpose) => /prefetch|prerender|preview/i.test(String(purpose ?? '')))
}

/** Shows the button that makes an email link take effect. Its form is answered once, for the browser of the cookie. */
function showConfirmation(
  app: FastifyInstance,
  { request, reply }: Exchange,
  { token, type, target }: EmailLinkRequest,
): FastifyReply {
  const form_token = formToken(app, ensureCookie(app, request, reply))
  const fields = { open_link: '1', form_token, token, type, redirect_to: target }
  const language = request.headers['accept-language']
  return app.pages.send(reply, isLinkType(type) ? type : 'magiclink', { language, fields })
}

/** Types of links with their own page text. */
function isLinkType(type: string): type is 'signup' | 'invite' | 'recovery' | 'email_change' {
  return ['signup', 'invite', 'recovery', 'email_change'].includes(type)
}

/** An email link and its redirect target. */
interface EmailLinkRequest {
  token: string
  type: string
  target: string
}

interface LinkFields {
  token?: string
  token_hash?: string
  type?: string
  redirect_to?: string
}

type Done = Extract<VerificationResult, { state: 'done' }>

/** Throws validation_failed for an incomplete link. */
function readLink(
  app: FastifyInstance,
  request: FastifyRequest,
  fields: LinkFields,
): EmailLinkRequest {
  const token = fields.token || fields.token_hash
  if (!token) throw validationFailed('Verify requires a token or a token hash')
  if (!fields.type) throw validationFailed('Verify requires a verification type')
  const target = resolveTarget(app, request, fields.redirect_to)
  return { token, type: fields.type, target }
}

/** Consumes the link and returns the redirect target, with the session or the error. */
function openLink(
  app: FastifyInstance,
  request: FastifyRequest,
  link: EmailLinkRequest,
  now: Date,
): Promise<string> {
  return consume(app, request, link, now).catch((thrown) =>
    rejectionTarget(app, request, link, thrown),
  )
}

/** Undefined for a valid link, otherwise the redirect target with the error. */
function findLinkError(
  app: FastifyInstance,
  request: FastifyRequest,
  link: EmailLinkRequest,
  now: Date,
): Promise<string | undefined> {
  return requireValid(app, request, link, now).then(
    () => undefined,
    (thrown) => rejectionTarget(app, request, link, thrown),
  )
}

async function requireValid(
  app: FastifyInstance,
  request: FastifyRequest,
  { token, type, target }: EmailLinkRequest,
  now: Date,
): Promise<void> {
  const { db } = app
  requireLinkType(type)
  if (!(await isOtpValid(app, db, token, type, now))) throw linkExpired()
  if (!isOpenedWhereRequested(app, request, target)) throw linkOpenedElsewhere()
}

async function consume(
  app: FastifyInstance,
  request: FastifyRequest,
  link: EmailLinkRequest,
  now: Date,
): Promise<string> {
  const { db } = app
  const { token, type, target } = link
  requireLinkType(type)
  if (!isOpenedWhereRequested(app, request, target)) {
    await requireValid(app, request, link, now)
  }
  const usesPkce = isPkce(token)
  const outcome = await db.transaction().execute(async (trx) => {
    const verified = await consumeOtp(app, trx, { type, linkToken: token }, now)
    if (verified.state === 'rejected') throw linkExpired()
    if (verified.state === 'half') return verified
    const complete = usesPkce ? issueCode : openSession
    return complete(app, trx, request, verified, now)
  })
  if (outcome.state === 'half') {
    return redirectWithMessage(target, emailChangeHalfConfirmed, { inQuery: usesPkce })
  }
  if (outcome.state === 'code') return redirectWithCode(target, outcome.code)
  const session = await toTokenResponse(app, outcome.opened, now)
  return redirectWithSession(target, session, { type: outcome.type })
}

/** For the audit entry. */
const traits = { provider: 'email' }

async function issueCode(
  { audit }: FastifyInstance,
  trx: Trx,
  { clientIp: ip }: FastifyRequest,
  { user, type, action }: Done,
  now: Date,
) {
  await recordAudit(audit, trx, action, user, { ip, now, traits })
  const code = await issuePkceCode(trx, user.id, getLinkMethod(type), now)
  return { state: 'code' as const, code }
}

async function openSession(
  app: FastifyInstance,
  trx: Trx,
  { clientInfo, clientIp }: FastifyRequest,
  { user, type, action }: Done,
  now: Date,
) {
  const entry = createAuditEntry(app.audit, action, user, clientIp, traits)
  const opened = await createSession(
    app,
    trx,
    user,
    { method: 'otp', clientInfo, audit: entry },
    now,
  )
  return { state: 'opened' as const, opened, type }
}

function rejectionTarget(
  { apiErrors }: FastifyInstance,
  request: FastifyRequest,
  { token, target }: EmailLinkRequest,
  thrown: unknown,
): string {
  const error = apiErrors.report(request, thrown)
  return redirectWithError(target, error, { inQuery: isPkce(token) })
}

export default verify
