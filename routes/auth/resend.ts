import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { emailProviderDisabled, phoneProviderDisabled, validationFailed } from '../../errors.ts'
import { MessageId } from '../../schemas/empty.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import {
  CaptchaFields,
  normalizeEmail,
  normalizePhone,
  Phone,
  PkceFields,
  RedirectQuery,
} from '../../schemas/fields.ts'

const Body = Type.Object({
  type: Type.Optional(Type.String({ description: 'signup, email_change, sms or phone_change' })),
  email: Type.Optional(Type.String()),
  phone: Phone,
  ...PkceFields,
  ...CaptchaFields,
})
type Body = Static<typeof Body>

const mailKinds = { signup: 'confirmation', email_change: 'email_change' } as const

const resend: FastifyPluginAsyncTypebox = async (fastify) => {
  const { captcha, config, credentials, db, flows, rateLimits } = fastify

  fastify.post(
    '/resend',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.otp },
      schema: {
        summary: 'Send a confirmation once more',
        description: 'Answers the same whether or not something was left to confirm.',
        tags: ['auth'],
        querystring: RedirectQuery,
        body: Body,
        response: { 200: MessageId, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const { body } = request
      const kind = readKind(body)
      const context = flows.linkContext(request, body)
      const who = { aud: request.audience, ip: request.clientIp }
      const message_id = await db.transaction().execute((trx) => {
        if (!kind) return credentials.repeatSms(trx, { ...readText(body), ...who }, now)
        const address = readAddress(body)
        return credentials.askByEmail(trx, { kind, address, data: {}, context, ...who }, now)
      })
      return { message_id }
    },
  )

  /** Which mail is asked for; undefined for a text message. Throws validation_failed. */
  function readKind({ type = '', email, phone }: Body) {
    const isMail = type === 'signup' || type === 'email_change'
    if (!isMail && !isText(type)) {
      throw validationFailed('Missing one of these types: signup, email_change, sms, phone_change')
    }
    if (email && phone) {
      throw validationFailed('Only an email address or phone number should be provided.')
    }
    if (isMail && !email) throw validationFailed(`Type ${type} requires an email address`)
    if (!isMail && !phone) throw validationFailed(`Type ${type} requires a phone number`)
    return isMail ? mailKinds[type] : undefined
  }

  function readAddress({ email = '' }: Body): string {
    if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
      throw emailProviderDisabled('Email logins are disabled', 400)
    }
    return normalizeEmail(email)
  }

  function readText({ type = '', phone = '' }: Body) {
    if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
      throw phoneProviderDisabled('Phone logins are disabled', 400)
    }
    const purpose = type === 'sms' ? ('confirmation' as const) : ('phone_change' as const)
    return { purpose, phone: normalizePhone(phone) }
  }
}

function isText(type: string): boolean {
  return type === 'sms' || type === 'phone_change'
}

export default resend
