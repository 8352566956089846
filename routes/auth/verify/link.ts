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
import { createSession, toTokenResponse } from '../../../modules/sessions/index.ts'
import { linkExpired, validationFailed } from '../../../schemas/errors.ts'

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
export function linkOpening(fastify: FastifyInstance) {
  const { flows } = fastify

  return {
    /** Throws validation_failed for an incomplete link. */
    read(request: FastifyRequest, fields: LinkFields): EmailLinkRequest {
      const token = fields.token || fields.token_hash
      if (!token) throw validationFailed('Verify requires a token or a token hash')
      if (!fields.type) throw validationFailed('Verify requires a verification type')
      const target = resolveTarget(flows, request, fields.redirect_to)
      return { token, type: fields.type, target }
    },

    /** The redirect target with the result or the error. */
    open: (request: FastifyRequest, link: EmailLinkRequest, now: Date): Promise<string> =>
      consume(fastify, request, link, now).catch((thrown) =>
        rejectionTarget(fastify, request, link, thrown),
      ),

    /** Undefined for a valid link, otherwise the redirect target with the error. */
    findLinkError: (
      request: FastifyRequest,
      link: EmailLinkRequest,
      now: Date,
    ): Promise<string | undefined> =>
      requireValid(fastify, link, now).then(
        () => undefined,
        (thrown) => rejectionTarget(fastify, request, link, thrown),
      ),
  }
}

async function requireValid(
  { credentials, db }: FastifyInstance,
  { token, type }: EmailLinkRequest,
  now: Date,
): Promise<void> {
  requireLinkType(type)
  if (!(await isOtpValid(credentials, db, token, type, now))) throw linkExpired()
}

/** Consumes the link and returns the redirect target. */
async function consume(
  fastify: FastifyInstance,
  request: FastifyRequest,
  link: EmailLinkRequest,
  now: Date,
): Promise<string> {
  const { credentials, db, sessions } = fastify
  const { token, type, target } = link
  requireLinkType(type)
  const usesPkce = isPkce(token)
  const outcome = await db.transaction().execute(async (trx) => {
    const verified = await consumeOtp(credentials, trx, { type, linkToken: token }, now)
    if (verified.state === 'rejected') throw linkExpired()
    if (verified.state === 'half') return verified
    const complete = usesPkce ? issueCode : openSession
    return complete(fastify, trx, request, verified, now)
  })
  if (outcome.state === 'half') {
    return redirectWithMessage(target, emailChangeHalfConfirmed, { inQuery: usesPkce })
  }
  if (outcome.state === 'code') return redirectWithCode(target, outcome.code)
  const session = await toTokenResponse(sessions, outcome.opened, now)
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
  { audit, sessions }: FastifyInstance,
  trx: Trx,
  { clientInfo, clientIp }: FastifyRequest,
  { user, type, action }: Done,
  now: Date,
) {
  const entry = createAuditEntry(audit, action, user, clientIp, traits)
  const opened = await createSession(
    sessions,
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
