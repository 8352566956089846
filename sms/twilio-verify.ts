/** Twilio Verify: Twilio generates, sends and verifies the code. Our own code is not used. */
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { basicAuth, type PostForm } from './form-client.ts'
import { SmsError, type SmsProvider } from './provider.ts'
import { rejection, type TwilioSettings } from './twilio.ts'

const Started = Type.Object({ sid: Type.String({ minLength: 1 }) })
const Checked = Type.Object({ status: Type.String(), valid: Type.Boolean() })
/** Twilio's error codes for malformed requests, such as a code of three digits. */
const Malformed = Type.Object({ code: Type.Union([Type.Literal(60200), Type.Literal(68004)]) })

type VerifySettings = Omit<TwilioSettings, 'contentSid'>

export function twilioVerify(settings: VerifySettings, post: PostForm): SmsProvider {
  const provider = 'twilio_verify'
  const service = `${settings.url}/v2/Services/${encodeURIComponent(settings.sender)}`
  const authorization = basicAuth(settings.accountSid, settings.authToken)

  return {
    name: provider,
    channels: ['sms', 'whatsapp'],

    // No retry after a 429: here it also means too many messages to the number.
    async send({ phone, channel }) {
      const form = { To: `+${phone}`, Channel: channel }
      const response = await post({
        provider,
        url: `${service}/Verifications`,
        form,
        authorization,
      })
      const { status, body } = response
      if ((status !== 200 && status !== 201) || !Value.Check(Started, body)) {
        throw new SmsError(provider, ...rejection(response))
      }
      return { messageId: body.sid }
    },

    async verify(phone, code) {
      const form = { To: `+${phone}`, Code: code }
      const url = `${service}/VerificationCheck`
      const response = await post({ provider, url, form, authorization })
      const { status, body } = response
      // 404: no pending verification (expired, consumed, never sent). 429: too many attempts.
      if (status === 404 || status === 429) return false
      if (status === 400 && Value.Check(Malformed, body)) return false
      if ((status !== 200 && status !== 201) || !Value.Check(Checked, body)) {
        throw new SmsError(provider, ...rejection(response))
      }
      return body.status === 'approved' && body.valid
    },
  }
}
