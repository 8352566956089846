/** SEND_EMAIL and SEND_SMS, which replace the mail server and the SMS provider. */
import type { User } from '../../../schemas/user.ts'
import type { HookCaller } from './caller.ts'

interface HookSms {
  otp: string
  /** E.164 digits without the plus sign. */
  phone: string
  /** Present for factor codes only. */
  sms_type?: 'mfa'
}

/** The contents of the email; fields that do not apply are empty. */
export interface HookEmail {
  token: string
  token_hash: string
  redirect_to: string
  email_action_type: string
  site_url: string
  token_new: string
  token_hash_new: string
  old_email: string
  old_phone: string
  provider: string
  factor_type: string
  /** Of a sign-in from a new device; GoTrue has no such email. */
  device?: string
  ip_address?: string
  signed_in_at?: string
  end_session_url?: string
}

interface SentFor {
  user: User
  /** Of the message, and the same for every attempt to send it. */
  uuid: string
}

/** Throws HookError. */
export function createSmsSender(call: HookCaller) {
  return async ({ user, uuid }: SentFor, sms: HookSms): Promise<void> => {
    await call({ user, sms }, { ip: null, uuid })
  }
}

/** Throws HookError. */
export function sendEmail(call: HookCaller) {
  return async ({ user, uuid }: SentFor, email_data: HookEmail): Promise<void> => {
    await call({ user, email_data }, { ip: null, uuid })
  }
}
