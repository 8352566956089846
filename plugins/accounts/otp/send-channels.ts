/** The limits of each channel, as the operator set them. */
import type { Config } from '../../config/config.ts'

export type SendChannel = 'email' | 'sms'

/** What shares one interval per address; recovery and magic links count together. */
export type SendPurpose =
  | 'signup'
  /** A confirmation once more. */
  | 'confirmation'
  | 'recovery'
  | 'email_change'
  | 'email_change_repeat'
  /** A new address that somebody wants; theirs or not, it hears of it no more often than that. */
  | 'email_change_target'
  | 'reauthentication'
  | 'phone_change'
  | 'phone_change_repeat'
  /** A second factor that is a phone. */
  | 'factor'

/**
 * Repeats wait for what they repeat as well. Not the other way round: a repeat is asked for by anybody, and must not keep
 * an address from signing up, or its owner from another one. For a change, which only people who are there ask for, the
 * worker sees to it (`checkRepeat`).
 */
export const repeats: Partial<Record<SendPurpose, SendPurpose>> = { confirmation: 'signup' }

const confirmations: readonly SendPurpose[] = ['signup', 'confirmation']

export interface Rate {
  count: number
  seconds: number
}

interface ChannelLimits {
  intervalSeconds: (purpose: SendPurpose) => number
  /** Undefined where addresses are confirmed without a message. */
  quota: Rate | undefined
}

export type SendLimits = Record<SendChannel, ChannelLimits>

export function channelLimits(config: Config): SendLimits {
  const mailInterval = config.AUTH_SMTP_MAX_FREQUENCY
  return {
    email: {
      intervalSeconds: (purpose) => mailInterval ?? (confirmations.includes(purpose) ? 900 : 60),
      quota: config.AUTH_MAILER_AUTOCONFIRM ? undefined : config.AUTH_RATE_LIMIT_EMAIL_SENT,
    },
    sms: {
      intervalSeconds: (purpose) =>
        purpose === 'factor' ? config.AUTH_MFA_PHONE_MAX_FREQUENCY : config.AUTH_SMS_MAX_FREQUENCY,
      quota: config.AUTH_SMS_AUTOCONFIRM ? undefined : config.AUTH_RATE_LIMIT_SMS_SENT,
    },
  }
}
