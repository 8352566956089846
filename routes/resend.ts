import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { emailProviderDisabled, phoneProviderDisabled, validationFailed } from '../errors.ts'
import { MessageId } from '../schemas/empty.ts'
import { ErrorResponses } from '../schemas/error.ts'
import { CaptchaFields, normalizeEmail, PkceFields, RedirectQuery } from '../schemas/fields.ts'

const Body = Type.Object({
  type: Type.Optional(Type.String({ description: 'signup, email_change, sms or phone_change' })),
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String({ description: 'E.164' })),
  ...PkceFields,
  ...CaptchaFields,
})

const mailKinds = { signup: 'confirmation', email_change: 'email_change' } as const
const phoneTypes = ['sms', 'phone_change']

const resend: FastifyPluginAsyncTypebox = async (fastify) => {
  const { captcha, config, db, links, mailRequests, rateLimits } = fastify

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
      const context = links.contextOf(request, body)
      if (!kind) throw phoneProviderDisabled('Phone logins are disabled', 400)
      if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
        throw emailProviderDisabled('Email logins are disabled', 400)
      }
      const asked = {
        kind,
        address: normalizeEmail(body.email ?? ''),
        aud: config.AUTH_JWT_AUD,
        data: {},
        context,
        ip: request.clientIp,
      }
      const message_id = await db
        .transaction()
        .execute((trx) => mailRequests.accept(trx, asked, now))
      return { message_id }
    },
  )

  /** Which mail is asked for; undefined for a text message. Throws validation_failed. */
  function readKind({ type = '', email, phone }: Static<typeof Body>) {
    const isMail = type === 'signup' || type === 'email_change'
    if (!isMail && !phoneTypes.includes(type)) {
      throw validationFailed('Missing one of these types: signup, email_change, sms, phone_change')
    }
    if (email && phone) {
      throw validationFailed('Only an email address or phone number should be provided.')
    }
    if (isMail && !email) throw validationFailed(`Type ${type} requires an email address`)
    if (!isMail && !phone) throw validationFailed(`Type ${type} requires a phone number`)
    return isMail ? mailKinds[type] : undefined
  }
}

export default resend
