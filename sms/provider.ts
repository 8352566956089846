/** What every SMS provider does, and how it fails. */

export type Channel = 'sms' | 'whatsapp'

export interface SmsMessage {
  /** E.164 digits without the plus sign, as stored. */
  phone: string
  /** What an SMS says; the code is in it. */
  text: string
  /** For providers that fill a template of their own. */
  code: string
  channel: Channel
}

export interface SmsProvider {
  name: string
  channels: readonly Channel[]
  /** Resolves when the provider has accepted the message; throws SmsError. */
  send(message: SmsMessage): Promise<{ messageId: string }>
  /** Only when the provider makes and checks the codes itself. False for a wrong or late code; throws SmsError. */
  verify?(phone: string, code: string): Promise<boolean>
}

/** A message that was not accepted, or an answer that does not say so. */
export class SmsError extends Error {
  readonly provider: string
  /** The provider's own words, for the log alone. */
  readonly detail: string
  /** Nobody knows whether it was sent all the same: the answer was lost, or cannot be read. */
  readonly mayBeSent: boolean

  constructor(provider: string, detail: string, { mayBeSent = false } = {}) {
    super(`${provider}: ${detail}`)
    this.name = 'SmsError'
    this.provider = provider
    this.detail = detail
    this.mayBeSent = mayBeSent
  }
}
