/** A code by text message once more: what is queued, and what becomes of it when it is known who has the number. */
import { type Static, Type } from '@sinclair/typebox'

import type { Db, Trx } from '../../../../db/database.ts'
import { findNewestToken } from '../../../../db/phone-tokens.ts'
import { findUser, findUserByPhone, type UserRecord } from '../../../../db/users.ts'
import { ApiError } from '../../../../errors.ts'
import type { House } from '../../../define-plugin.ts'
import type { SmsRequest } from '../../otp/sms-otp.ts'
import { putOff } from './put-off.ts'
import {
  AcceptedLanguages,
  isOfAnother,
  isTooOld,
  openRequest,
  readSealed,
  type SealedRequest,
  sealRequest,
} from './sealed-request.ts'

export const repeatTask = 'repeat_text_message'

/** How long a job that another replica queued, of a newer release or with a newer key, waits for one that reads it. */
const deferralMs = 60_000

const StoredRepeat = Type.Object({
  v: Type.Literal(1),
  purpose: Type.Union([Type.Literal('confirmation'), Type.Literal('phone_change')]),
  /** As the client named it: the person's number or, of a change, also the new one. */
  phone: Type.String(),
  aud: Type.String(),
  ip: Type.String(),
  accepted: AcceptedLanguages,
})
export type RepeatRequest = Omit<Static<typeof StoredRepeat>, 'v' | 'accepted'>

/**
 * Notes that a code is wanted once more. Returns the id of the message that may come of it. Throws
 * over_sms_send_rate_limit or unexpected_failure.
 */
export async function repeatSms(
  house: House<'encryption' | 'jobQueue' | 'languages' | 'otp'>,
  trx: Trx,
  request: RepeatRequest,
  now: Date,
): Promise<string> {
  const { jobQueue, languages, otp } = house
  const { purpose, phone } = request
  const id = crypto.randomUUID()
  const stored = { v: 1, ...request, accepted: languages.accepted() }
  await jobQueue.enqueue(trx, repeatTask, sealRequest(house, id, stored, now), once)
  const interval = intervals[purpose]
  await otp.claimSms(trx, { purpose, interval, phone }, now)
  return id
}

/** A repeat holds back repeats only. */
const intervals = { confirmation: 'confirmation', phone_change: 'phone_change_repeat' } as const

/** A second attempt could send a second message. */
const once = { maxAttempts: 1 }

type WorkerHouse = House<
  'audit' | 'db' | 'encryption' | 'jobQueue' | 'languages' | 'log' | 'otp' | 'users'
>

/** The worker's part. What cannot be read here is put into the queue again, because the queue runs it only once. */
export async function answerRepeat(house: WorkerHouse, payload: unknown): Promise<void> {
  const { db, jobQueue, log } = house
  const now = new Date()
  try {
    await answerNow(house, readSealed(payload), now)
  } catch (error) {
    const mayBeRead = isOfAnother(error)
    if (!mayBeRead || typeof payload !== 'object' || payload === null) throw error
    log.warn({ err: error }, 'a request for a text message waits for a server that can read it')
    await jobQueue.enqueue(db, repeatTask, payload, { ...once, delayMs: deferralMs })
  }
}

async function answerNow(house: WorkerHouse, job: SealedRequest, now: Date): Promise<void> {
  const { languages, log, otp } = house
  const { id: messageId } = job
  if (isTooOld(job, otp.smsSeconds, now)) {
    log.warn({ messageId }, 'a request for a text message was dropped: it waited too long')
    return
  }
  const { accepted = '', ...request } = openRequest(house, StoredRepeat, job)
  const repeated = languages.during(accepted, () => repeat(house, messageId, request, now))
  const waiting = repeated.catch((error) =>
    putOff(house, error, { task: repeatTask, job, ...once }, now),
  )
  await waiting.catch((error) => {
    if (!(error instanceof ApiError)) throw error
    log.debug({ messageId, reason: error.errorCode }, 'a text message was not repeated')
  })
}

async function repeat(
  house: WorkerHouse,
  id: string,
  request: RepeatRequest,
  now: Date,
): Promise<void> {
  const { audit, db, otp, users } = house
  const { purpose, ip } = request
  const person = await findWaiting(db, request)
  const phone = person && numberToProve(person, purpose)
  if (!person || !phone) return
  if (purpose === 'phone_change') {
    // A number may have been asked for that is somebody's: they hear nothing.
    const owner = await findUserByPhone(db, phone, request.aud)
    if (owner && owner.id !== person.id) return
    await otp.checkRepeat(db, 'sms', 'phone_change', request.phone, now)
    await otp.checkRepeat(db, 'sms', 'phone_change', phone, now)
  }
  await claimTarget(house, request, phone, now)
  const interval = intervals[purpose]
  const by = { owner: person, askedBy: request.phone }
  const wanted: SmsRequest = { purpose, interval, phone, channel: 'sms', ...by }
  const sent = await otp.deliverSms(db, wanted, id, now)
  await db.transaction().execute(async (trx) => {
    const today = await users.lock(trx, person.id)
    if (!today || numberToProve(today, purpose) !== phone) return
    await otp.storeSms(trx, person.id, sent, now)
    await audit.record(trx, 'user_confirmation_requested', today, { ip, now })
  })
}

/** The wait of the number asked for is claimed; a new number that it leads to has its own. */
async function claimTarget(
  { db, otp }: House<'db' | 'otp'>,
  { purpose, phone }: RepeatRequest,
  to: string,
  now: Date,
): Promise<void> {
  if (to !== phone) await otp.claimInterval(db, 'sms', intervals[purpose], to, now)
}

/** Who may wait for such a code at this number. */
async function findWaiting(
  db: Db,
  { purpose, phone, aud }: RepeatRequest,
): Promise<UserRecord | undefined> {
  const owner = await findUserByPhone(db, phone, aud)
  if (purpose === 'confirmation' || owner?.phone_change) return owner
  const token = await findNewestToken(db, 'phone_change_token', phone)
  return token && findUser(db, token.user_id)
}

/** The number that a code would prove; nothing when there is nothing left to prove. */
function numberToProve(person: UserRecord, purpose: RepeatRequest['purpose']): string | null {
  if (purpose === 'phone_change') return person.phone_change
  return person.phone_confirmed_at ? null : person.phone
}
