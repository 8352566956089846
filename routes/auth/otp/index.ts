import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { readMagicLink, requestEmailOtp } from '../../../modules/credentials/index.ts'
import { readPkce } from '../../../modules/flows/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import {
  CaptchaFields,
  Channel,
  Metadata,
  Phone,
  PkceFields,
  RedirectQuery,
} from '../../../schemas/fields.ts'
import { EmptyObject } from '../../../schemas/values/empty.ts'
import { readSmsRequest, sendSignInSms } from './sms.ts'
import { checkUserExists } from './unknown-user.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Phone,
  channel: Channel,
  create_user: Type.Optional(
    Type.Boolean({
      description:
        'Create an account for a new address; true when absent. With false nothing is sent to one.',
    }),
  ),
  data: Type.Optional(Metadata),
  ...PkceFields,
  ...CaptchaFields,
})
type Body = Static<typeof Body>

const otpRoute: FastifyPluginAsyncTypebox = async (fastify) => {
  const { captcha, config, credentials, db, rateLimits } = fastify

  fastify.post(
    '/otp',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.otp },
      schema: {
        summary: 'Send a one-time code by email or SMS to sign in',
        description:
          'An email also has a link. The response is the same for every address, also when create_user is false, unless ' +
          'AUTH_SECURITY_OTP_UNKNOWN_USER_ERROR is set.',
        tags: ['auth'],
        querystring: RedirectQuery,
        body: Body,
        response: { 200: EmptyObject, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const { body } = request
      checkShape(body)
      readPkce(body)
      const { phone, create_user: createUser = true } = body
      // The request is validated before the look-up, so that errors do not depend on the user.
      const emailRequest = phone
        ? undefined
        : readMagicLink(credentials, request, body, { createUser })
      const sms = phone ? readSmsRequest(fastify, body, request) : undefined
      if (!createUser && config.AUTH_SECURITY_OTP_UNKNOWN_USER_ERROR) {
        const identifier = sms ? { phone: sms.phone } : { email: emailRequest?.address ?? '' }
        await checkUserExists(fastify, identifier, request, now)
      }
      if (sms) await sendSignInSms(fastify, sms, now)
      if (emailRequest) {
        await db
          .transaction()
          .execute((trx) => requestEmailOtp(credentials, trx, emailRequest, now))
      }
      return {}
    },
  )
}

function checkShape({ email, phone, channel }: Body): void {
  if (email && phone) {
    throw validationFailed('Only an email address or phone number should be provided')
  }
  if (email && channel) {
    throw validationFailed('Channel should only be specified with Phone OTP')
  }
  if (!email && !phone) {
    throw validationFailed('One of email or phone must be set')
  }
}

export default otpRoute
