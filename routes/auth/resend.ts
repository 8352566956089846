import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { requestEmailOtp, resendSms } from '../../modules/credentials/index.ts'
import { readLinkContext } from '../../modules/flows/index.ts'
import { choices, needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import {
  emailProviderDisabled,
  phoneProviderDisabled,
  validationFailed,
} from '../../schemas/errors.ts'
import {
  CaptchaFields,
  normalizeEmail,
  normalizePhone,
  Phone,
  PkceFields,
  RedirectQuery,
} from '../../schemas/fields.ts'
import { MessageId } from '../../schemas/values/empty.ts'

const Body = Type.Object({
  type: Type.Optional(
    Type.String({ ...needed, ...choices('signup', 'email_change', 'sms', 'phone_change') }),
  ),
  email: Type.Optional(Type.String()),
  phone: Phone,
  ...PkceFields,
  ...CaptchaFields,
})
type Body = Static<typeof Body>

const emailKinds = { signup: 'confirmation', email_change: 'email_change' } as const

const schema = {
  summary: 'Resend a confirmation',
  description: 'The response does not reveal whether a confirmation is pending.',
  tags: ['auth'],
  querystring: RedirectQuery,
  body: Body,
  response: { 200: MessageId, ...ErrorResponses },
}

const resend: FastifyPluginAsyncTypebox = async (app) => {
  const { captcha, config, db, emailValidation, rateLimits } = app

  app.post(
    '/resend',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.otp },
      schema,
    },
    async (request) => {
      const now = new Date()
      const { body } = request
      const kind = readKind(body)
      const context = readLinkContext(app, request, body)
      const { audience: aud, clientIp: ip, sendingNetwork: network } = request
      const who = { aud, ip }
      const address = kind && readAddress(body)
      if (address) await emailValidation.check(address)
      const message_id = await db.transaction().execute((trx) => {
        if (!kind || !address) {
          return resendSms(app, trx, { ...readText(body), ...who, network }, now)
        }
        return requestEmailOtp(app, trx, { kind, address, data: {}, context, ...who }, now)
      })
      return { message_id }
    },
  )

  /** The requested email; undefined for an SMS. Throws validation_failed. */
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
    return isMail ? emailKinds[type] : undefined
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
