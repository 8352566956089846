/** MessageBird's SMS API. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { type FormResponse, type PostForm, unreadableResponse } from './form-client.ts'
import { SmsError, type SmsProvider } from './provider.ts'

interface MessagebirdSettings {
  url: string
  accessKey: string
  /** A phone number with plus sign, or an alphanumeric sender. */
  originator: string
}

const Sent = Type.Object({
  id: Type.String({ minLength: 1 }),
  recipients: Type.Object({ totalSentCount: Type.Integer() }),
})
const ErrorBody = Type.Object({
  errors: Type.Array(Type.Object({ description: Type.String() }), { minItems: 1 }),
})

export function messagebird(settings: MessagebirdSettings, post: PostForm): SmsProvider {
  const { url, accessKey, originator } = settings

  return {
    name: 'messagebird',
    channels: ['sms'],
    async send({ phone, text }) {
      const options = { type: 'sms', datacoding: 'unicode' }
      const response = await post({
        provider: 'messagebird',
        url: `${url}/messages`,
        form: { originator, body: text, recipients: phone, ...options },
        authorization: `AccessKey ${accessKey}`,
      })
      return read(response)
    },
  }
}

function read({ status, body }: FormResponse): { messageId: string } {
  if (Value.Check(ErrorBody, body)) {
    throw new SmsError('messagebird', `status ${status}: ${body.errors[0]?.description}`)
  }
  if (status >= 300 || !Value.Check(Sent, body)) {
    throw new SmsError('messagebird', ...unreadableResponse({ status, body }))
  }
  if (body.recipients.totalSentCount === 0) {
    throw new SmsError('messagebird', 'sent to none of the recipients')
  }
  return { messageId: body.id }
}
