import { findUserByPhone } from '../../db/users.ts'
import { toUser } from '../../schemas/user.ts'
import type { House } from '../define-plugin.ts'
import type { SendByHook } from '../sms.ts'

/** The operator's SEND_SMS hook; undefined when it is switched off. It hears of the code, of no text and no channel. */
export function createSmsHook({
  config,
  db,
  hooks,
}: House<'config' | 'db' | 'hooks'>): SendByHook | undefined {
  const { sendSms, unsavedUser } = hooks
  if (!sendSms) return undefined
  return async ({ phone, code, messageId, isFactor, aud = config.AUTH_JWT_AUD, ...known }) => {
    const person = known.person ?? (await findUserByPhone(db, phone, aud))
    const user = person ? toUser(person) : unsavedUser({ id: crypto.randomUUID(), aud, phone })
    const sms = { otp: code, phone, ...(isFactor && { sms_type: 'mfa' as const }) }
    await sendSms({ user, uuid: messageId }, sms)
  }
}
