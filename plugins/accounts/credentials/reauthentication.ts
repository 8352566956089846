/** A signed-in person shows once more who they are, by a code sent to their address. */
import type { Db, Trx } from '../../../db/database.ts'
import type { UserRecord } from '../../../db/users.ts'
import { otpExpired, reauthenticationNotValid } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { SentCode } from '../otp/sms-otp.ts'
import type { Judgement } from '../otp/sms-otp-check.ts'

const type = 'reauthentication_token' as const

/** Mails the code; returns the message's id. Throws over_email_send_rate_limit. */
export async function sendReauthentication(
  { audit, emails, otp }: House<'audit' | 'emails' | 'otp'>,
  trx: Trx,
  user: UserRecord,
  { ip, now }: { ip: string; now: Date },
): Promise<string> {
  const address = user.email ?? ''
  emails.checkRecipient(address)
  const messageId = crypto.randomUUID()
  await otp.claimInterval(trx, 'email', 'reauthentication', address, now)
  await audit.record(trx, 'user_reauthenticate_requested', user, { ip, now })
  await emails.sendReauthentication(trx, user, messageId, now)
  return messageId
}

/** A code that was texted counts from now on. */
export async function acceptSentReauthentication(
  { audit, otp }: House<'audit' | 'otp'>,
  trx: Trx,
  user: UserRecord,
  sent: SentCode,
  { ip, now }: { ip: string; now: Date },
): Promise<void> {
  await otp.storeSms(trx, user.id, sent, now)
  await audit.record(trx, 'user_reauthenticate_requested', user, { ip, now })
}

/** Who knows whether a code is right; asked outside of a transaction. */
async function judgeNonce(
  { otp }: House<'otp'>,
  db: Db,
  user: UserRecord,
  nonce: string,
  now: Date,
): Promise<Judgement> {
  if (user.email || !user.phone) return { by: 'us' }
  const { phone, aud } = user
  return otp.judgeSmsCode(db, { type, phone, aud: aud ?? '', code: nonce }, now)
}

/** Spends the code. False for a wrong, late or used one: the guess is counted, so commit before refusing. */
async function acceptsNonce(
  { otp }: House<'otp'>,
  trx: Trx,
  user: UserRecord,
  nonce: string,
  judgement: Judgement,
  now: Date,
): Promise<boolean> {
  const { email, phone } = user
  if (!email && !phone) return false
  const typed = { type, phone: phone ?? '', aud: user.aud ?? '', code: nonce }
  const token = email
    ? await otp.takeCode(trx, [type], { address: email, code: nonce }, now)
    : await otp.takeSmsCode(trx, typed, judgement, now)
  return token?.user_id === user.id
}

/**
 * Spends a right nonce; guesses are counted for the person, across all the codes that they ask for. Throws
 * reauthentication_not_valid, otp_expired or over_request_rate_limit.
 */
export async function proveNonce(
  house: House<'otp'>,
  db: Db,
  user: UserRecord,
  nonce: string,
  now: Date,
): Promise<void> {
  const attempt = await house.otp.gate(db, { kind: 'nonce', account: user.id }, now)
  const tried = await attempt.check(
    db,
    () => tryNonce(house, db, user, nonce, now),
    ({ isRight }) => isRight,
  )
  if (tried.isRight) return
  throw tried.by === 'provider' ? otpExpired() : reauthenticationNotValid()
}

async function tryNonce(
  house: House<'otp'>,
  db: Db,
  user: UserRecord,
  nonce: string,
  now: Date,
): Promise<{ isRight: boolean; by: Judgement['by'] }> {
  const judgement = await judgeNonce(house, db, user, nonce, now)
  const isRight = await db
    .transaction()
    .execute((trx) => acceptsNonce(house, trx, user, nonce, judgement, now))
  return { isRight, by: judgement.by }
}
