/** Twilio's Programmable Messaging: SMS and WhatsApp. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { basicAuth, type FormResponse, type PostForm, unreadableResponse } from './form-client.ts'
import { SmsError, type SmsMessage, type SmsProvider } from './provider.ts'

export interface TwilioSettings {
  url: string
  accountSid: string
  authToken: string
  /** The SID of a messaging service, a phone number, or an alphanumeric sender. */
  sender: string
  /** An approved WhatsApp template whose first variable is the code. */
  contentSid: string | undefined
}

const Accepted = Type.Object({
  sid: Type.String({ minLength: 1 }),
  status: Type.Optional(Type.String()),
  error_message: Type.Optional(Type.Union([Type.String(), Type.Null()])),
})

/** The body of an error response. */
const ErrorBody = Type.Object({
  message: Type.String(),
  more_info: Type.Optional(Type.String()),
})

export function twilio(settings: TwilioSettings, post: PostForm): SmsProvider {
  const account = encodeURIComponent(settings.accountSid)
  const url = `${settings.url}/2010-04-01/Accounts/${account}/Messages.json`
  const authorization = basicAuth(settings.accountSid, settings.authToken)

  return {
    name: 'twilio',
    channels: ['sms', 'whatsapp'],
    async send(message) {
      const form = message.channel === 'sms' ? sms(message) : whatsapp(message)
      // Twilio documents that requests with a 429 response were not processed (error 20429).
      const retryable = ({ status }: FormResponse) => status === 429
      return read(await post({ provider: 'twilio', url, form, authorization, retryable }))
    },
  }

  function sms({ phone, text }: SmsMessage): Record<string, string> {
    return { To: `+${phone}`, Channel: 'sms', From: settings.sender, Body: text }
  }

  function whatsapp({ phone, text, code }: SmsMessage): Record<string, string> {
    const { sender, contentSid } = settings
    const number = /^\+?([1-9][0-9]{1,14})$/.exec(sender)?.[1]
    const From = number === undefined ? sender : `whatsapp:+${number}`
    const addresses = { To: `whatsapp:+${phone}`, Channel: 'whatsapp', From }
    if (contentSid === undefined) return { ...addresses, Body: text }
    return {
      ...addresses,
      ContentSid: contentSid,
      ContentVariables: JSON.stringify({ '1': code }),
    }
  }
}

function read({ status, body }: FormResponse): { messageId: string } {
  if ((status !== 200 && status !== 201) || !Value.Check(Accepted, body)) {
    throw new SmsError('twilio', ...rejection({ status, body }))
  }
  if (body.status === 'failed' || body.status === 'undelivered') {
    throw new SmsError(
      'twilio',
      `message ${body.status}: ${body.error_message ?? 'no reason given'}`,
    )
  }
  return { messageId: body.sid }
}

/** Twilio's error, for the log. */
export function rejection(response: FormResponse): ReturnType<typeof unreadableResponse> {
  const { status, body } = response
  if (!Value.Check(ErrorBody, body)) return unreadableResponse(response)
  const reason = `status ${status}: ${body.message} ${body.more_info ?? ''}`.trimEnd()
  return [reason, { mayBeSent: false }]
}
