/** Sign-up by phone: a new number, an unverified one, or one in use. */
import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import { createSavepoint, releaseSavepoint } from '../../../db/core/savepoint.ts'
import { findPhoneHolder } from '../../../db/users/users.ts'
import { recordAudit } from '../../audit/index.ts'
import { dryRunSms, sendSms, storeSms } from '../../otp/index.ts'
import type { SentCode, SmsChannel, SmsRequest } from '../../otp/sms-otp.ts'
import { repeatedBy } from './autoconfirmed.ts'
import { dryRunPhoneSignUp } from './dry-run.ts'
import { storePendingSignUp } from './pending.ts'
import type { AutoconfirmedSignUp, SignUpOutcome } from './types.ts'
import { findOrCreateUnconfirmedUser, isUnclaimed } from './unconfirmed-user.ts'
import { toUnconfirmedUser } from './user-data.ts'

interface PhoneSignUp extends AutoconfirmedSignUp {
  channel: SmsChannel
  /** The network of the client. */
  network: string
}

/**
 * Sends the code. For a number in use, sends nothing and takes the same time. Throws over_sms_send_rate_limit,
 * sms_send_failed or unexpected_failure.
 */
export async function sendSignUpOtp(
  app: FastifyInstance,
  db: Db,
  { user, channel, network }: PhoneSignUp,
  now: Date,
): Promise<SentCode | undefined> {
  const { contact, aud, data: metadata } = user
  const phone = contact.address
  const purpose = { purpose: 'confirmation', interval: 'signup', countsAs: 'signup' } as const
  const recipient = { ...purpose, phone, channel, network }
  const request: SmsRequest = { ...recipient, owner: { audience: aud, metadata } }
  const owner = await findPhoneHolder(db, contact.address, aud)
  if (!owner || isUnclaimed(owner, contact)) return sendSms(app, db, request, now)
  // Counted like a sent message, so that the remaining quota reveals nothing.
  await dryRunSms(app, db, { ...request, isCounted: true }, now)
  return undefined
}

/** Creates the user of the number; `sent` is the result of `sendSignUpOtp`. */
export async function signUpByPhone(
  app: FastifyInstance,
  trx: Trx,
  signUp: PhoneSignUp,
  sent: SentCode | undefined,
  now: Date,
): Promise<SignUpOutcome> {
  const { audit } = app
  // The same statements run for a new number and one in use; only the end of the savepoint differs.
  await createSavepoint(trx, 'sign_up')
  const registered = sent && (await findOrCreateUnconfirmedUser(app, trx, signUp.user, now))
  if (!registered) return taken(app, trx, signUp, now)
  const { user } = registered
  await storeSms(app, trx, user.id, sent, now)
  await storePendingSignUp(trx, registered, now)
  await releaseSavepoint(trx, 'sign_up')
  await recordAudit(audit, trx, 'user_confirmation_requested', user, { ip: signUp.ip, now })
  return {
    state: 'confirmation_required',
    user: toUnconfirmedUser(app, user, signUp.user.contact, now),
  }
}

async function taken(
  app: FastifyInstance,
  trx: Trx,
  { user, ip }: PhoneSignUp,
  now: Date,
): Promise<SignUpOutcome> {
  const owner = await findPhoneHolder(trx, user.contact.address, user.aud)
  // With autoconfirmed emails, clients can detect known ones anyway.
  const reveal = app.config.AUTH_MAILER_AUTOCONFIRM
  const dummy = reveal ? undefined : await dryRunPhoneSignUp(app, trx, user, now)
  return repeatedBy(app, trx, owner, dummy, { ip, now })
}
