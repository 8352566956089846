import type { UserRecord } from '../../../db/users/users.ts'
import type { OtpChannel } from '../../../sms/provider.ts'

/** Sends a code through the operator's hook. Throws HookError. */
export type SendByHook = (sms: OutgoingSms) => Promise<void>

export interface OutgoingSms {
  /** E.164 digits without the plus sign. */
  phone: string
  code: string
  channel: OtpChannel
  /** Our id, which the client receives; relates the log to the provider's id. */
  messageId: string
  /** The user the code is for, when known. */
  user?: UserRecord | undefined
  /** The audience of an unknown user; the default audience when absent. */
  aud?: string | undefined
  /** The recipient's user_metadata, when known, for the language. */
  reader?: Readonly<Record<string, unknown>> | null | undefined
  /** The code verifies a second factor: AUTH_MFA_PHONE_TEMPLATE instead of AUTH_SMS_TEMPLATE. */
  isFactor?: boolean
}
