import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import {
  emailNotConfirmed,
  noAuthorization,
  phoneNotConfirmed,
  validationFailed,
} from '../errors.ts'
import { MessageId } from '../schemas/empty.ts'
import { ErrorResponses } from '../schemas/error.ts'

const reauthenticate: FastifyPluginAsyncTypebox = async (fastify) => {
  const { db, phones, rateLimits, reauthentications } = fastify

  fastify.get(
    '/reauthenticate',
    {
      preHandler: fastify.requireUser,
      config: { rateLimit: rateLimits.otp },
      schema: {
        summary: 'Send the code that a new password needs',
        description: 'Goes to the email address, or to the phone of somebody without one.',
        tags: ['user'],
        response: { 200: MessageId, ...ErrorResponses },
      },
    },
    async ({ bearer, clientIp }) => {
      if (!bearer) throw noAuthorization()
      const now = new Date()
      const { user } = bearer
      if (!user.email && !user.phone) {
        throw validationFailed(
          'Reauthentication requires the user to have an email or a phone number',
        )
      }
      if (user.email) {
        if (!user.email_confirmed_at) {
          throw emailNotConfirmed('Please verify your email first.', 422)
        }
        const message_id = await db
          .transaction()
          .execute((trx) => reauthentications.sendByEmail(trx, user, clientIp, now))
        return { message_id }
      }
      if (!user.phone_confirmed_at) throw phoneNotConfirmed('Please verify your phone first.', 422)
      const errand = { phone: user.phone ?? '', channel: 'sms' as const }
      const sent = await phones.send(db, { purpose: 'reauthentication', ...errand }, now)
      await db
        .transaction()
        .execute((trx) => reauthentications.acceptSent(trx, user, sent, clientIp, now))
      return { message_id: sent.messageId }
    },
  )
}

export default reauthenticate
