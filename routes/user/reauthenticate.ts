import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { emailNotConfirmed, phoneNotConfirmed, validationFailed } from '../../errors.ts'
import { MessageId } from '../../schemas/empty.ts'
import { ErrorResponses } from '../../schemas/error.ts'

const reauthenticate: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, credentials, db, otp, rateLimits, users } = fastify

  fastify.get(
    '/reauthenticate',
    {
      config: { rateLimit: rateLimits.otp, themselves: true },
      schema: {
        summary: 'Send the code that a new password needs',
        description: 'Goes to the email address, or to the phone of somebody without one.',
        tags: ['user'],
        response: { 200: MessageId, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const { clientIp } = request
      const { user } = bearerAuth.bearerOf(request)
      if (!user.email && !user.phone) {
        throw validationFailed(
          'Reauthentication requires the user to have an email or a phone number',
        )
      }
      if (user.email) {
        if (!user.email_confirmed_at) {
          throw emailNotConfirmed('Please verify your email first.', 422)
        }
        const message_id = await db.transaction().execute(async (trx) => {
          await users.lockLive(trx, user.id, now)
          return credentials.sendReauthentication(trx, user, clientIp, now)
        })
        return { message_id }
      }
      if (!user.phone_confirmed_at) throw phoneNotConfirmed('Please verify your phone first.', 422)
      const to = { phone: user.phone ?? '', channel: 'sms', owner: user } as const
      const code = { purpose: 'reauthentication', ...to } as const
      const sent = await otp.sendSms(db, code, now)
      await db.transaction().execute(async (trx) => {
        await users.lockLive(trx, user.id, now)
        await credentials.acceptSentReauthentication(trx, user, sent, clientIp, now)
      })
      return { message_id: sent.messageId }
    },
  )
}

export default reauthenticate
