import type { FastifyInstance, FastifyRequest } from 'fastify'

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
import { isOpenedWhereRequested } from '../../../modules/page-session/index.ts'
import { createSession, toTokenResponse } from '../../../modules/sessions/index.ts'
import { linkExpired, linkOpenedElsewhere, validationFailed } from '../../../schemas/errors.ts'

/** An email link and its redirect target. */
export interface EmailLinkRequest {
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

/** For the audit entry. */
const traits = { provider: 'email' }

/** Consumes a link: creates a session and redirects to the site, also with an error. */
export function linkOpening(app: FastifyInstance) {
  return {
    /** Throws validation_failed for an incomplete link. */
    read(request: FastifyRequest, fields: LinkFields): EmailLinkRequest {
      const token = fields.token || fields.token_hash
      if (!token) throw validationFailed('Verify requires a token or a token hash')
      if (!fields.type) throw validationFailed('Verify requires a verification type')
      const target = resolveTarget(app, request, fields.redirect_to)
      return { token, type: fields.type, target }
    },

    /** The redirect target with the result or the error. */
    open: (request: FastifyRequest, link: EmailLinkRequest, now: Date): Promise<string> =>
      consume(app, request, link, now).catch((thrown) =>
        rejectionTarget(app, request, link, thrown),
      ),

    /** Undefined for a valid link, otherwise the redirect target with the error. */
    findLinkError: (
      request: FastifyRequest,
      link: EmailLinkRequest,
      now: Date,
    ): Promise<string | undefined> =>
      requireValid(app, request, link, now).then(
        () => undefined,
        (thrown) => rejectionTarget(app, request, link, thrown),
      ),
  }
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

/** Consumes the link and returns the redirect target. */
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
