import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import { findUserByAnyEmail, findUserByPhone } from '../db/users.ts'
import { otpDisabled, phoneProviderDisabled, validationFailed } from '../errors.ts'
import { Empty } from '../schemas/empty.ts'
import { ErrorResponses } from '../schemas/error.ts'
import {
  CaptchaFields,
  Metadata,
  normalizeEmail,
  normalizePhone,
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

type Wanted = Static<typeof Body>

const otp: FastifyPluginAsyncTypebox = async (fastify) => {
  const { captcha, config, db, links, mailRequests, phoneRequests, rateLimits, sms } = fastify

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
      links.contextOf(request, body)
      if (body.create_user === false) await checkKnown(body)
      if (body.phone) return text(request, now)
      const asked = mailRequests.readMagicLink(request, body)
      await db.transaction().execute((trx) => mailRequests.accept(trx, asked, now))
      return {}
    },
  )

  async function text(request: FastifyRequest<{ Body: Wanted }>, now: Date) {
    const { phone = '', channel, data = {} } = request.body
    if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
      throw phoneProviderDisabled('Unsupported phone provider', 400)
    }
    const asked = {
      phone: normalizePhone(phone),
      channel: sms.channelOf(channel),
      aud: config.AUTH_JWT_AUD,
      data,
      ip: request.clientIp,
    }
    const sent = await phoneRequests.ask(db, asked, now)
    if (sent) await db.transaction().execute((trx) => phoneRequests.accept(trx, asked, sent, now))
    return {}
  }

  function checkShape({ email, phone, channel }: Wanted): void {
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
  async function checkKnown({ email, phone = '' }: Wanted): Promise<void> {
    const aud = config.AUTH_JWT_AUD
    const known = email
      ? await findUserByAnyEmail(db, readable(normalizeEmail, email), aud)
      : await findUserByPhone(db, readable(normalizePhone, phone), aud)
    if (!known) throw otpDisabled()
  }

  /** A malformed address is nobody's either. */
  function readable(normalize: (input: string) => string, address: string): string {
    try {
      return normalize(address)
    } catch {
      throw otpDisabled()
    }
  }
}

export default otp
