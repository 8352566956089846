/** Textlocal's API, which reports errors in the body only. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { type FormResponse, type PostForm, unreadableResponse } from './form-client.ts'
import { SmsError, type SmsProvider } from './provider.ts'

interface TextlocalSettings {
  url: string
  apiKey: string
  sender: string
}

const Sent = Type.Object({
  status: Type.Literal('success'),
  messages: Type.Array(Type.Object({ id: Type.Union([Type.String(), Type.Number()]) }), {
    minItems: 1,
  }),
})
const ErrorBody = Type.Object({
  errors: Type.Array(Type.Object({ code: Type.Number(), message: Type.String() }), {
    minItems: 1,
  }),
})

export function textlocal({ url, apiKey, sender }: TextlocalSettings, post: PostForm): SmsProvider {
  return {
    name: 'textlocal',
    channels: ['sms'],
    async send({ phone, text }) {
      const form = { sender, apikey: apiKey, message: text, numbers: phone }
      return read(await post({ provider: 'textlocal', url: `${url}/send`, form }))
    },
  }
}

function read({ status, body }: FormResponse): { messageId: string } {
  if (Value.Check(Sent, body)) return { messageId: String(body.messages[0]?.id) }
  if (!Value.Check(ErrorBody, body)) {
    throw new SmsError('textlocal', ...unreadableResponse({ status, body }))
  }
  const [reason] = body.errors
  throw new SmsError('textlocal', `error ${reason?.code}: ${reason?.message}`)
}
