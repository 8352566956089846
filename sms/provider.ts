/** The interface of SMS providers. */

export type OtpChannel = 'sms' | 'whatsapp'

export interface SmsMessage {
  /** E.164 digits without the plus sign, as stored. */
  phone: string
  /** The text of the message, with the code. */
  text: string
  /** For providers that use their own template. */
  code: string
  channel: OtpChannel
}

export interface SmsProvider {
  name: string
  channels: readonly OtpChannel[]
  /** Resolves when the provider has accepted the message; throws SmsError. */
  send(message: SmsMessage): Promise<{ messageId: string }>
  /**
   * For providers that generate and verify codes themselves. Returns false for a wrong or expired code; throws
   * SmsError.
   */
  verify?(phone: string, code: string): Promise<boolean>
}

/** The provider did not confirm that it accepted the message. */
export class SmsError extends Error {
  readonly provider: string
  /** The provider's error text, for the log only. */
  readonly detail: string
  /** Delivery is unknown: the response was lost or cannot be parsed. */
  readonly mayBeSent: boolean

  constructor(provider: string, detail: string, { mayBeSent = false } = {}) {
    super(`${provider}: ${detail}`)
    this.name = 'SmsError'
    this.provider = provider
    this.detail = detail
    this.mayBeSent = mayBeSent
  }
}
