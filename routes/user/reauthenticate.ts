import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import type { UserRecord } from '../../db/users.ts'
import { emailNotConfirmed, phoneNotConfirmed, validationFailed } from '../../errors.ts'
import { MessageId } from '../../schemas/empty.ts'
import { ErrorResponses } from '../../schemas/error.ts'

interface At {
  ip: string
  now: Date
}

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
      const at = { ip: request.clientIp, now: new Date() }
      const { user } = bearerAuth.bearerOf(request)
      if (user.email) return { message_id: await sendMail(user, at) }
      if (user.phone) return { message_id: await sendSms(user, user.phone, at) }
      throw validationFailed(
        'Reauthentication requires the user to have an email or a phone number',
      )
    },
  )

  async function sendMail(user: UserRecord, at: At): Promise<string> {
    if (!user.email_confirmed_at) throw emailNotConfirmed('Please verify your email first.', 422)
    return db.transaction().execute(async (trx) => {
      await users.lockLive(trx, user.id, at.now)
      return credentials.sendReauthentication(trx, user, at)
    })
  }

  async function sendSms(user: UserRecord, phone: string, at: At): Promise<string> {
    if (!user.phone_confirmed_at) throw phoneNotConfirmed('Please verify your phone first.', 422)
    const to = { phone, channel: 'sms', owner: user } as const
    const sent = await otp.sendSms(db, { purpose: 'reauthentication', ...to }, at.now)
    await db.transaction().execute(async (trx) => {
      await users.lockLive(trx, user.id, at.now)
      await credentials.acceptSentReauthentication(trx, user, sent, at)
    })
    return sent.messageId
  }
}

export default reauthenticate
