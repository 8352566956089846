/**
 * What anybody may ask to be mailed to an address: a way back in, a sign-in link, a confirmation once more.
 * The request only notes what was asked, the same for every address; who lives there is looked up afterwards by a
 * worker, so that neither the answer nor its time tells who is known.
 */
import { type Static, Type } from '@sinclair/typebox'

import type { Trx } from '../../../../db/database.ts'
import { limitLockWaits } from '../../../../db/lock-waits.ts'
import { hasMailMessage } from '../../../../db/mail-messages.ts'
import { HookError } from '../../../../errors.ts'
import { Metadata } from '../../../../schemas/fields.ts'
import type { House } from '../../../define-plugin.ts'
import type { SendPurpose } from '../../otp/send-channels.ts'
import type { Approval } from '../../users/approval.ts'
import { type AnswerHouse, answer, type EmailRequest } from './answers.ts'
import { putOff } from './put-off.ts'
import {
  AcceptedLanguages,
  isTooOld,
  openRequest,
  readSealed,
  sealRequest,
} from './sealed-request.ts'

export const emailTask = 'answer_mail_request'

/** Somebody's row that is held for longer must not keep the worker, nor the next one, from everybody else's mail. */
const lockWaits = { longestMs: 5_000 }

/** Clients are told nothing; whoever develops against this server is. */
const silence =
  'a request for a mail came to none: nobody has this address, or nothing is left to be confirmed'

const purposes: Record<EmailRequest['kind'], SendPurpose> = {
  recovery: 'recovery',
  magic_link: 'recovery',
  confirmation: 'confirmation',
  email_change: 'email_change_repeat',
}

const StoredEmailRequest = Type.Object({
  v: Type.Literal(1),
  kind: Type.Union([
    Type.Literal('recovery'),
    Type.Literal('magic_link'),
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
  }),
  ip: Type.String(),
  accepted: AcceptedLanguages,
})
type StoredEmailRequest = Static<typeof StoredEmailRequest>

/**
 * Notes the request. Returns the id of the message that may come of it. Throws over_email_send_rate_limit,
 * email_provider_not_configured or email_address_not_authorized.
 */
export async function askByEmail(
  house: House<'emails' | 'encryption' | 'jobQueue' | 'languages' | 'otp'>,
  trx: Trx,
  request: EmailRequest,
  now: Date,
): Promise<string> {
  const { emails, jobQueue, languages, otp } = house
  emails.checkRecipient(request.address)
  const purpose = purposes[request.kind]
  await otp.claimInterval(trx, 'email', purpose, request.address, now)
  const id = crypto.randomUUID()
  const stored = { v: 1, ...request, accepted: languages.accepted() }
  const job = sealRequest(house, id, stored, now)
  await jobQueue.enqueue(trx, emailTask, job)
  // Only a look: what invented addresses are asked for is never sent, and must not use up what others may send.
  await otp.checkQuota(trx, 'email', now)
  return id
}

/** The worker's part: looks the person up and answers. A newer form is thrown back and tried again later. */
export async function answerByEmail(
  house: AnswerHouse & House<'db' | 'encryption' | 'jobQueue' | 'languages' | 'log' | 'otp'>,
  payload: unknown,
): Promise<void> {
  const { config, db, languages, log, otp } = house
  const job = readSealed(payload)
  const now = new Date()
  if (isTooOld(job, otp.linkSeconds, now)) {
    log.warn({ messageId: job.id }, 'a request for a mail was dropped: it waited too long')
    return
  }
  const { accepted = '', ...stored } = openRequest(house, StoredEmailRequest, job)
  const request = withMessageId(stored, job.id)
  const approval = await approve(house, request)
  if (approval === 'refused') return
  const answerOnce = async (trx: Trx) => {
    await limitLockWaits(trx, lockWaits)
    // A worker that died after its commit leaves the job to another one.
    if (await hasMailMessage(trx, job.id)) return
    await answer(house, trx, { ...request, approval }, now)
    if (config.dev && !(await hasMailMessage(trx, job.id))) {
      log.warn({ kind: request.kind }, silence)
    }
  }
  const answered = languages.during(accepted, () => db.transaction().execute(answerOnce))
  await answered.catch((error) => putOff(house, error, { task: emailTask, job }, now))
}

/**
 * Asks the operator's hook about whoever would be signed up. Nobody hears of a refusal, for a known address would have
 * got its mail. Throws HookError for a hook that cannot be asked, so that it is asked again.
 */
async function approve(
  { config, db, log, users }: AnswerHouse & House<'db' | 'log'>,
  { kind, address, aud, data, ip }: EmailRequest,
): Promise<Approval | 'refused' | undefined> {
  if (kind !== 'magic_link' || config.AUTH_DISABLE_SIGNUP) return undefined
  const contact = { provider: 'email' as const, address }
  try {
    return await users.approveIfNew(db, { contact, aud, data }, ip)
  } catch (error) {
    if (!(error instanceof HookError) || error.fault !== 'refused') throw error
    log.info({ err: error }, 'a hook refused an account')
    return 'refused'
  }
}

function withMessageId(
  { context, ...request }: Omit<StoredEmailRequest, 'accepted'>,
  messageId: string,
): EmailRequest {
  return { ...request, context: { ...context, pkce: context.pkce, messageId } }
}
