import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { validationFailed } from '../../../errors.ts'
import { Empty } from '../../../schemas/empty.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import {
  CaptchaFields,
  Channel,
  Metadata,
  Phone,
  PkceFields,
  RedirectQuery,
} from '../../../schemas/fields.ts'
import { checkKnown } from './known.ts'
import { sendSignInSms } from './sms.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Phone,
  channel: Channel,
  create_user: Type.Optional(
    Type.Boolean({ description: 'Sign up whoever is new; true when absent' }),
  ),
  data: Type.Optional(Metadata),
  ...PkceFields,
  ...CaptchaFields,
})
type Body = Static<typeof Body>

const otpRoute: FastifyPluginAsyncTypebox = async (fastify) => {
  const { captcha, credentials, db, flows, rateLimits } = fastify

  fastify.post(
    '/otp',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.otp },
      schema: {
        summary: 'Send a one-time code to sign in with, by mail or text message',
        description:
          'A mail holds a link as well. Answers the same for every address, unless create_user is false.',
        tags: ['auth'],
        querystring: RedirectQuery,
        body: Body,
        response: { 200: Empty, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const { body } = request
      checkShape(body)
      flows.readPkce(body)
      if (body.create_user === false) await checkKnown(fastify, body, request.audience)
      if (body.phone) {
        await sendSignInSms(fastify, body, request, now)
        return {}
      }
      const asked = credentials.readMagicLink(request, body)
      await db.transaction().execute((trx) => credentials.askByEmail(trx, asked, now))
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
