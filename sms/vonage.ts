/** Vonage's SMS API (formerly Nexmo). Every response has status 200. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { type FormResponse, type PostForm, unreadableResponse } from './form-client.ts'
import { SmsError, type SmsProvider } from './provider.ts'

interface VonageSettings {
  url: string
  apiKey: string
  apiSecret: string
  from: string
}

const VonageResponse = Type.Object({
  messages: Type.Array(
    Type.Object({
      status: Type.String(),
      'message-id': Type.Optional(Type.String()),
      'error-text': Type.Optional(Type.String()),
    }),
    { minItems: 1 },
  ),
})

const acceptedStatus = '0'
const throttledStatus = '1'

export function vonage(settings: VonageSettings, post: PostForm): SmsProvider {
  const credentials = { api_key: settings.apiKey, api_secret: settings.apiSecret }

  return {
    name: 'vonage',
    channels: ['sms'],
    async send({ phone, text }) {
      const response = await post({
        provider: 'vonage',
        url: `${settings.url}/sms/json`,
        form: { from: settings.from, to: phone, text, ...credentials, ...getEncoding(text) },
        // A throttled message was not accepted, so that a retry cannot send it twice.
        retryable: (first) => getFirstMessage(first)?.status === throttledStatus,
      })
      return read(response)
    },
  }
}

function getEncoding(text: string): Record<string, string> {
  return /\P{ASCII}/u.test(text) ? { type: 'unicode' } : {}
}

function getFirstMessage({ body }: FormResponse) {
  return Value.Check(VonageResponse, body) ? body.messages[0] : undefined
}

function read(response: FormResponse): { messageId: string } {
  const outcome = getFirstMessage(response)
  if (outcome === undefined) throw new SmsError('vonage', ...unreadableResponse(response))
  if (outcome.status !== acceptedStatus) {
    throw new SmsError('vonage', `status ${outcome.status}: ${outcome['error-text'] ?? ''}`)
  }
  return { messageId: outcome['message-id'] ?? '' }
}
