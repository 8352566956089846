/** Resends a code by SMS: the queued request, and its handling once the owner of the number is known. */
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import { findNewestToken } from '../../../db/tokens/pending-changes.ts'
import { findUser, findUserByPhone, type UserRecord } from '../../../db/users/users.ts'
import { ApiError, RequestedTooSoon } from '../../../schemas/errors.ts'
import { recordAudit } from '../../audit/index.ts'
import {
  checkRepeatInterval,
  deliverSms,
  perClientInterval,
  reserveInterval,
  reserveSmsRepeat,
  smsSeconds,
  storeSms,
} from '../../otp/index.ts'
import type { SmsRequest } from '../../otp/sms-otp.ts'
import { lockAndLoadUser } from '../../users/index.ts'
import {
  AcceptedLanguages,
  decryptRequest,
  decryptStoredRequest,
  type EncryptedRequest,
  encryptRequest,
  isForOtherReplica,
  isTooOld,
  postpone,
} from './encrypted-request.ts'

export const repeatTask = 'repeat_text_message'

/** How long a job of a newer release, or with a newer key, waits for a replica that can decrypt it. */
const deferralMs = 60_000

const StoredRepeat = Type.Object({
  v: Type.Literal(1),
  purpose: Type.Union([Type.Literal('confirmation'), Type.Literal('phone_change')]),
  /** As in the request: the user's number or, for a change, also the new one. */
  phone: Type.String(),
  aud: Type.String(),
  ip: Type.String(),
  network: Type.Optional(Type.String()),
  accepted: AcceptedLanguages,
})
type RepeatRequest = Omit<Static<typeof StoredRepeat>, 'v' | 'accepted'>

/**
 * Queues the request. Returns the id of the resulting message. Within the interval nothing is queued and the response
 * is the same, known number or not: in GoTrue, an unknown number has no interval. Throws over_sms_send_rate_limit when
 * the quota is exhausted.
 */
export async function resendSms(
  app: FastifyInstance,
  trx: Trx,
  request: RepeatRequest,
  now: Date,
): Promise<string> {
  const { jobQueue, languages } = app
  const { purpose, phone, network } = request
  const id = crypto.randomUUID()
  const interval = intervals[purpose]
  const countsAs = quotaPurposes[purpose]
  try {
    await reserveSmsRepeat(app, trx, { purpose, interval, phone, countsAs, network }, now)
  } catch (error) {
    if (error instanceof RequestedTooSoon) return id
    throw error
  }
  const stored = { v: 1, ...request, accepted: languages.accepted() }
  await jobQueue.enqueue(trx, repeatTask, encryptRequest(app, id, stored, now), once)
  return id
}

/** A resent code delays other resent codes only. */
const intervals = { confirmation: 'confirmation', phone_change: 'phone_change_repeat' } as const

const quotaPurposes = { confirmation: 'signup', phone_change: 'phone_change' } as const

/** A second attempt could send a second message. */
const once = { maxAttempts: 1 }

/** The job. A payload that cannot be decrypted is queued again, because each job runs only once. */
export async function handleResendJob(app: FastifyInstance, payload: unknown): Promise<void> {
  const { db, jobQueue, log } = app
  const now = new Date()
  try {
    await handleNow(app, decryptStoredRequest(payload), now)
  } catch (error) {
    const mayBeRead = isForOtherReplica(error)
    if (!mayBeRead || typeof payload !== 'object' || payload === null) throw error
    log.warn({ err: error }, 'SMS request postponed: it cannot be decrypted by this server')
    await jobQueue.enqueue(db, repeatTask, payload, { ...once, delayMs: deferralMs })
  }
}

async function handleNow(app: FastifyInstance, job: EncryptedRequest, now: Date): Promise<void> {
  const { languages, log } = app
  const { id: messageId } = job
  if (isTooOld(job, smsSeconds(app), now)) {
    log.warn({ message_id: messageId }, 'SMS request dropped: expired')
    return
  }
  const { accepted = '', ...request } = decryptRequest(app, StoredRepeat, job)
  const repeated = languages.during(accepted, () => repeat(app, messageId, request, now))
  const waiting = repeated.catch((error) =>
    postpone(app, error, { task: repeatTask, job, ...once }, now),
  )
  await waiting.catch((error) => {
    if (!(error instanceof ApiError)) throw error
    const level = error.status >= 500 ? 'error' : 'debug'
    log[level]({ message_id: messageId, reason: error.errorCode }, 'SMS not resent')
  })
}

async function repeat(
  app: FastifyInstance,
  id: string,
  request: RepeatRequest,
  now: Date,
): Promise<void> {
  const { audit, db } = app
  const { purpose, ip } = request
  const user = await findWaiting(db, request)
  const phone = user && getNumberToVerify(user, purpose)
  if (!user || !phone) return
  if (purpose === 'phone_change') {
    // The requested number may belong to another user, who gets no message.
    const owner = await findUserByPhone(db, phone, request.aud)
    if (owner && owner.id !== user.id) return
    await checkRepeatInterval(app, db, 'sms', 'phone_change', request.phone, now)
    await checkRepeatInterval(app, db, 'sms', 'phone_change', phone, now)
  }
  await reserveTargetInterval(app, request, phone, now)
  const interval = intervals[purpose]
  const by = { owner: user, requester: perClientInterval(request.phone, request.network) }
  const counted = { countsAs: quotaPurposes[purpose], network: request.network }
  const smsRequest: SmsRequest = { purpose, interval, phone, channel: 'sms', ...by, ...counted }
  const sent = await deliverSms(app, db, smsRequest, id, now)
  await db.transaction().execute(async (trx) => {
    const today = await lockAndLoadUser(trx, user.id)
    if (!today || getNumberToVerify(today, purpose) !== phone) return
    await storeSms(app, trx, user.id, sent, now)
    await recordAudit(audit, trx, 'user_confirmation_requested', today, { ip, now })
  })
}

/** Reserves the interval of the requested number, and of a new number that results from it. */
async function reserveTargetInterval(
  app: FastifyInstance,
  { purpose, phone, network }: RepeatRequest,
  to: string,
  now: Date,
): Promise<void> {
  if (to === phone) return
  await reserveInterval(app, app.db, 'sms', intervals[purpose], perClientInterval(to, network), now)
}

/** Finds the user with a pending code for this number. */
async function findWaiting(
  db: Db,
  { purpose, phone, aud }: RepeatRequest,
): Promise<UserRecord | undefined> {
  const owner = await findUserByPhone(db, phone, aud)
  if (purpose === 'confirmation' || owner?.phone_change) return owner
  const token = await findNewestToken(db, 'phone_change_token', phone)
  return token && findUser(db, token.user_id)
}

/** The number that the code would verify; undefined when it is verified already. */
function getNumberToVerify(user: UserRecord, purpose: RepeatRequest['purpose']): string | null {
  if (purpose === 'phone_change') return user.phone_change
  return user.phone_confirmed_at ? null : user.phone
}
