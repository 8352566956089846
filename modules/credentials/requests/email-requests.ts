/**
 * Requests for emails by unauthenticated clients: recovery, magic link, resent confirmation. The request only queues a
 * job, the same for every address; a worker looks the user up, so that neither response nor response time reveals
 * whether the address is known.
 */
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { limitLockWaits } from '../../../db/core/locks.ts'
import { hasMailMessage } from '../../../db/emails/messages.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import {
  emailProviderDisabled,
  HookError,
  magicLinkDisabled,
  validationFailed,
} from '../../../schemas/errors.ts'
import { Metadata, normalizeEmail } from '../../../schemas/fields.ts'
import { checkRecipient, requireMail } from '../../emails/index.ts'
import { readLinkContext } from '../../flows/index.ts'
import type { PkceInput } from '../../flows/pkce.ts'
import { checkSendQuota, perClientInterval, reserveInterval } from '../../otp/index.ts'
import type { QuotaPurpose, SendPurpose } from '../../otp/limits/channels.ts'
import { callBeforeUserCreatedIfNew, checkMetadataSize } from '../../users/index.ts'
import type { CreationPermit } from '../../users/sign-up/types.ts'
import { type EmailRequest, handleEmailRequest } from './email-request-results.ts'
import {
  AcceptedLanguages,
  decryptRequest,
  decryptStoredRequest,
  encryptRequest,
  isTooOld,
  postpone,
} from './encrypted-request.ts'

export const emailTask = 'answer_mail_request'

/** A locked user row must not delay this worker, and the emails of all other users. */
const lockWaits = { maxWaitMs: 5_000 }

/** Clients are not notified; developers are. */
const notSentMessage = 'no email sent: no user has this address, or nothing is left to be confirmed'

const purposes: Record<EmailRequest['kind'], SendPurpose> = {
  recovery: 'recovery',
  username_recovery: 'recovery',
  magic_link: 'recovery',
  sign_in: 'recovery',
  confirmation: 'confirmation',
  email_change: 'email_change_repeat',
}

/** A magic link for a new address becomes a sign-up, and is counted as one when it is sent. */
const quotaPurposes: Record<EmailRequest['kind'], QuotaPurpose> = {
  recovery: 'recovery',
  username_recovery: 'recovery',
  magic_link: 'sign_in',
  sign_in: 'sign_in',
  confirmation: 'signup',
  email_change: 'email_change',
}

const StoredEmailRequest = Type.Object({
  v: Type.Literal(1),
  kind: Type.Union([
    Type.Literal('recovery'),
    Type.Literal('username_recovery'),
    Type.Literal('magic_link'),
    Type.Literal('sign_in'),
    Type.Literal('confirmation'),
    Type.Literal('email_change'),
  ]),
  address: Type.String(),
  aud: Type.String(),
  data: Metadata,
  context: Type.Object({
    redirectTo: Type.String(),
    baseUrl: Type.String(),
    pkce: Type.Optional(
      Type.Object({
        challenge: Type.String(),
        method: Type.Union([Type.Literal('s256'), Type.Literal('plain')]),
      }),
    ),
    network: Type.Optional(Type.String()),
  }),
  ip: Type.String(),
  accepted: AcceptedLanguages,
})
type StoredEmailRequest = Static<typeof StoredEmailRequest>

/**
 * Queues the request. Returns the id of the resulting message. Throws over_email_send_rate_limit,
 * email_provider_not_configured or email_address_not_authorized.
 */
export async function requestEmailOtp(
  app: FastifyInstance,
  trx: Trx,
  request: EmailRequest,
  now: Date,
): Promise<string> {
  const { emails, jobQueue, languages } = app
  const { address, context, kind } = request
  // The response must not reveal whether the address of a username may receive emails.
  if (kind === 'username_recovery') requireMail(emails.policy)
  else checkRecipient(emails.policy, address)
  const waiting = perClientInterval(address, context.network)
  await reserveInterval(app, trx, 'email', purposes[kind], waiting, now)
  const id = crypto.randomUUID()
  const stored = { v: 1, ...request, accepted: languages.accepted() }
  const job = encryptRequest(app, id, stored, now)
  await jobQueue.enqueue(trx, emailTask, job)
  // Checked without reservation: requests for unknown addresses send nothing and must not use the quota up.
  const message = { purpose: quotaPurposes[kind], to: address, network: context.network }
  await checkSendQuota(app, trx, 'email', message, now)
  return id
}

/** The job: looks the user up and handles the request. An unknown format is retried later. */
export async function handleEmailRequestJob(app: FastifyInstance, payload: unknown): Promise<void> {
  const { config, db, languages, log, otp } = app
  const job = decryptStoredRequest(payload)
  const now = new Date()
  if (isTooOld(job, otp.lifetimes.mailSeconds, now)) {
    log.warn({ message_id: job.id }, 'email request dropped: expired')
    return
  }
  const { accepted = '', ...stored } = decryptRequest(app, StoredEmailRequest, job)
  const request = withMessageId(stored, job.id)
  const permit = await requestPermit(app, request)
  if (permit === 'rejected') return
  const handleOnce = async (trx: Trx) => {
    await limitLockWaits(trx, lockWaits)
    // A worker that ended after its commit leaves the job to another one.
    if (await hasMailMessage(trx, job.id)) return
    await handleEmailRequest(app, trx, { ...request, permit }, now)
    if (config.dev && !(await hasMailMessage(trx, job.id))) {
      log.warn({ kind: request.kind }, notSentMessage)
    }
  }
  const handled = languages.during(accepted, () => db.transaction().execute(handleOnce))
  await handled.catch((error) => postpone(app, error, { task: emailTask, job }, now))
}

/**
 * Calls the operator's hook for a user who would be signed up. A rejection is not reported to the client. Throws
 * HookError for an unavailable hook, so that the job is retried.
 */
async function requestPermit(
  app: FastifyInstance,
  { kind, address, aud, data, ip }: EmailRequest,
): Promise<CreationPermit | 'rejected' | undefined> {
  if (kind !== 'magic_link' || app.config.AUTH_DISABLE_SIGNUP) return undefined
  const contact = { provider: 'email' as const, address }
  try {
    return await callBeforeUserCreatedIfNew(app, app.db, { contact, aud, data }, ip)
  } catch (error) {
    if (!(error instanceof HookError) || error.kind !== 'rejected') throw error
    app.log.info({ err: error }, 'hook rejected a new user')
    return 'rejected'
  }
}

function withMessageId(
  { context, ...request }: Omit<StoredEmailRequest, 'accepted'>,
  messageId: string,
): EmailRequest {
  return { ...request, context: { ...context, pkce: context.pkce, messageId } }
}

interface MagicLinkFields extends PkceInput {
  email?: string
  data?: UserMetadata
}

/**
 * Parses a magic link request from the body of /magiclink or /otp. Throws email_provider_disabled, validation_failed or
 * metadata_too_large.
 */
export function readMagicLink(
  app: FastifyInstance,
  request: FastifyRequest,
  body: MagicLinkFields,
  { createUser }: { createUser: boolean },
): EmailRequest {
  if (!app.config.AUTH_EXTERNAL_EMAIL_ENABLED) {
    throw emailProviderDisabled('Email logins are disabled', 422)
  }
  if (!app.config.AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED) {
    throw magicLinkDisabled()
  }
  const { email = '', data = {} } = body
  if (email === '') throw validationFailed('Password recovery requires an email', 422)
  checkMetadataSize(app, { user_metadata: data })
  return {
    kind: createUser ? 'magic_link' : 'sign_in',
    address: normalizeEmail(email),
    aud: request.audience,
    data,
    context: readLinkContext(app, request, body),
    ip: request.clientIp,
  }
}
