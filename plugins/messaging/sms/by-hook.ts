import { findUserByPhone } from '../../../db/users/users.ts'
import { toUser } from '../../../schemas/user.ts'
import type { Deps } from '../../define-plugin.ts'
import type { OutgoingSms, SendByHook } from './types.ts'

/** The SEND_SMS hook; undefined when it is disabled. It receives the code, not the text or channel. */
export function createSmsHook({
  config,
  db,
  hooks,
}: Deps<'config' | 'db' | 'hooks'>): SendByHook | undefined {
  const { sendSms, unsavedUser } = hooks
  if (!sendSms) return undefined
  /** A user for the payload, with metadata of the sign-up such as the language. */
  function newUser(phone: string, aud: string, reader: OutgoingSms['reader']) {
    const app_metadata = { provider: 'phone', providers: ['phone'] }
    const id = crypto.randomUUID()
    return unsavedUser({ id, aud, phone, app_metadata, user_metadata: { ...reader } })
  }

  return async ({ phone, code, messageId, isFactor, aud = config.AUTH_JWT_AUD, ...known }) => {
    const existing = known.user ?? (await findUserByPhone(db, phone, aud))
    const user = existing ? toUser(existing) : newUser(phone, aud, known.reader)
    const sms = { otp: code, phone, ...(isFactor && { sms_type: 'mfa' as const }) }
    await sendSms({ user, uuid: messageId }, sms)
  }
}
