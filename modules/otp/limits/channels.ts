/** The configured send limits of each channel. */
import type { KeyObject } from 'node:crypto'

import type { Config } from '../../../config/groups/index.ts'

export type SendChannel = 'email' | 'sms'

/** Purposes with their own interval per recipient; recovery and magic links share one. */
export type SendPurpose =
  | 'signup'
  /** A resent confirmation. */
  | 'confirmation'
  | 'recovery'
  | 'email_change'
  | 'email_change_repeat'
  /** A requested new email: its owner gets no more messages than this. */
  | 'email_change_target'
  | 'reauthentication'
  | 'phone_change'
  | 'phone_change_repeat'
  /** A phone factor. */
  | 'factor'

/**
 * A resent message also waits for the interval of the original one, but not vice versa: anyone can request a resend,
 * which must not delay sign-ups or other changes. For an identifier change, which requires a session, the worker checks
 * it (`checkRepeatInterval`).
 */
export const repeats: Partial<Record<SendPurpose, SendPurpose>> = { confirmation: 'signup' }

const confirmations: readonly SendPurpose[] = ['signup', 'confirmation']

/** Purposes with their own quota. */
export type QuotaPurpose =
  | 'signup'
  | 'recovery'
  | 'sign_in'
  | 'email_change'
  | 'phone_change'
  /** What members of organizations send to addresses of their choice. */
  | 'invitation'

export interface Rate {
  count: number
  seconds: number
}

interface ChannelLimits {
  intervalSeconds: (purpose: SendPurpose) => number
  /** Undefined for messages of a channel without confirmation. */
  quota: (purpose: QuotaPurpose) => Rate | undefined
}

type SendLimits = Record<SendChannel, ChannelLimits>

export function channelLimits(config: Config): SendLimits {
  const mailInterval = config.AUTH_SMTP_MAX_FREQUENCY
  return {
    email: {
      intervalSeconds: (purpose) => mailInterval ?? (confirmations.includes(purpose) ? 900 : 60),
      quota: (purpose) =>
        config.AUTH_MAILER_AUTOCONFIRM && purpose !== 'invitation'
          ? undefined
          : config.AUTH_RATE_LIMIT_EMAIL_SENT,
    },
    sms: {
      intervalSeconds: (purpose) =>
        purpose === 'factor' ? config.AUTH_MFA_PHONE_MAX_FREQUENCY : config.AUTH_SMS_MAX_FREQUENCY,
      quota: () => (config.AUTH_SMS_AUTOCONFIRM ? undefined : config.AUTH_RATE_LIMIT_SMS_SENT),
    },
  }
}

/** The limits of sending. */
export interface SendPolicy {
  /** The key that hashes recipients. */
  sendKey: KeyObject
  channels: SendLimits
}
