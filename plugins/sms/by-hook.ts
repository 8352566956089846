import { findUserByPhone } from '../../db/users.ts'
import { toUser } from '../../schemas/user.ts'
import type { House } from '../define-plugin.ts'
import type { OutgoingSms, SendByHook } from '../sms.ts'

/** The operator's SEND_SMS hook; undefined when it is switched off. It hears of the code, of no text and no channel. */
export function createSmsHook({
  config,
  db,
  hooks,
}: House<'config' | 'db' | 'hooks'>): SendByHook | undefined {
  const { sendSms, unsavedUser } = hooks
  if (!sendSms) return undefined
  /** With what the sign-up says of them, such as the language they read. */
  function newcomer(phone: string, aud: string, reader: OutgoingSms['reader']) {
    const app_metadata = { provider: 'phone', providers: ['phone'] }
    const id = crypto.randomUUID()
    return unsavedUser({ id, aud, phone, app_metadata, user_metadata: { ...reader } })
  }

  return async ({ phone, code, messageId, isFactor, aud = config.AUTH_JWT_AUD, ...known }) => {
    const person = known.person ?? (await findUserByPhone(db, phone, aud))
    const user = person ? toUser(person) : newcomer(phone, aud, known.reader)
    const sms = { otp: code, phone, ...(isFactor && { sms_type: 'mfa' as const }) }
    await sendSms({ user, uuid: messageId }, sms)
  }
}
