import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { findUserByAnyEmail } from '../db/users.ts'
import { otpDisabled, phoneProviderDisabled, validationFailed } from '../errors.ts'
import { Empty } from '../schemas/empty.ts'
import { ErrorResponses } from '../schemas/error.ts'
import {
  CaptchaFields,
  Metadata,
  normalizeEmail,
  PkceFields,
  RedirectQuery,
} from '../schemas/fields.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String({ description: 'E.164' })),
  channel: Type.Optional(Type.String({ description: 'sms or whatsapp' })),
  create_user: Type.Optional(
    Type.Boolean({ description: 'Sign up whoever is new; true when absent' }),
  ),
  data: Type.Optional(Metadata),
  ...PkceFields,
  ...CaptchaFields,
})

const otp: FastifyPluginAsyncTypebox = async (fastify) => {
  const { captcha, config, db, links, mailRequests, rateLimits } = fastify

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
      const { email, phone } = body
      checkShape(body)
      links.contextOf(request, body)
      if (body.create_user === false) await checkKnown(email)
      if (phone) throw phoneProviderDisabled('Phone sign-in is not available', 400)
      const asked = mailRequests.readMagicLink(request, body)
      await db.transaction().execute((trx) => mailRequests.accept(trx, asked, now))
      return {}
    },
  )

  function checkShape({ email, phone, channel }: Static<typeof Body>): void {
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

  /** The client asked to be told: throws otp_disabled for an address that nobody has. */
  async function checkKnown(email: string | undefined): Promise<void> {
    const known = email && (await findUserByAnyEmail(db, readable(email), config.AUTH_JWT_AUD))
    if (!known) throw otpDisabled()
  }

  /** A malformed address is nobody's either. */
  function readable(email: string): string {
    try {
      return normalizeEmail(email)
    } catch {
      throw otpDisabled()
    }
  }
}

export default otp
