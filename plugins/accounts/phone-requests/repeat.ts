/** A code once more: what is queued, and what becomes of it when it is known who has the number. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

import type { Db } from '../../../db/database.ts'
import { findNewestToken } from '../../../db/phone-tokens.ts'
import { findUser, findUserByPhone, lockUser, type UserRecord } from '../../../db/users.ts'
import { ApiError } from '../../../errors.ts'
import type { Errand } from '../phones.ts'

export const repeatTask = 'repeat_text_message'

export interface RepeatRequest {
  purpose: 'confirmation' | 'phone_change'
  /** As the client named it: the person's number or, of a change, also the new one. */
  phone: string
  aud: string
  ip: string
}

interface Job {
  id: string
  /** The encrypted request: it holds a number. */
  request: string
  /** ISO 8601 */
  asked_at: string
}

type Encryption = Pick<FastifyInstance['encryption'], 'encrypt' | 'decrypt'>

export function sealRepeat(encryption: Encryption, id: string, request: RepeatRequest, now: Date) {
  const sealed = encryption.encrypt(id, JSON.stringify(request))
  return { id, request: sealed, asked_at: now.toISOString() } satisfies Job
}

interface WorkerDeps {
  db: Db
  encryption: Encryption
  phones: FastifyInstance['phones']
  sendLimits: FastifyInstance['sendLimits']
  audit: FastifyInstance['audit']
  log: Pick<FastifyBaseLogger, 'warn' | 'debug'>
}

export function createRepeatWorker(deps: WorkerDeps) {
  const { db, encryption, phones, sendLimits, audit, log } = deps

  /** The wait of the number asked for is claimed; a new number that it leads to has its own. */
  async function claimTarget(request: RepeatRequest, to: string, now: Date): Promise<void> {
    if (to === request.phone) return
    await sendLimits.claimInterval(db, 'sms', request.purpose, to, now)
  }

  async function repeat(id: string, request: RepeatRequest, now: Date): Promise<void> {
    const { purpose, ip } = request
    const person = await findWaiting(db, request)
    const phone = person && numberToProve(person, purpose)
    if (!person || !phone) return
    await claimTarget(request, phone, now)
    const errand: Errand = { purpose, phone, channel: 'sms', askedBy: request.phone }
    const sent = await phones.deliver(db, errand, id, now)
    await db.transaction().execute(async (trx) => {
      await lockUser(trx, person.id)
      const today = await findUser(trx, person.id)
      if (!today || numberToProve(today, purpose) !== phone) return
      await phones.store(trx, person.id, sent, now)
      await audit.record(trx, 'user_confirmation_requested', today, { ip, now })
    })
  }

  return async function answer(payload: unknown): Promise<void> {
    const { id, request, asked_at } = readJob(payload)
    const now = new Date()
    if (now.getTime() - Date.parse(asked_at) > phones.ttlSeconds * 1000) {
      log.warn({ messageId: id }, 'a request for a text message was dropped: it waited too long')
      return
    }
    const asked = JSON.parse(encryption.decrypt(id, request, 'A request for a text message'))
    await repeat(id, asked, now).catch((error) => {
      if (!(error instanceof ApiError)) throw error
      log.debug({ messageId: id, reason: error.errorCode }, 'a text message was not repeated')
    })
  }
}

/** Who may wait for such a code at this number. */
async function findWaiting(db: Db, { purpose, phone, aud }: RepeatRequest) {
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

function readJob(payload: unknown): Job {
  const { id, request, asked_at }: Partial<Job> = Object(payload)
  if (!id || !request || !asked_at) throw new TypeError(`a job of ${repeatTask} lacks a field`)
  return { id, request, asked_at }
}
