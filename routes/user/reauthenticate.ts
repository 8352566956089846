import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'

import type { UserRecord } from '../../db/users/users.ts'
import {
  acceptSentReauthentication,
  findNonceRecipient,
  sendReauthentication,
} from '../../modules/access/index.ts'
import { sendSms } from '../../modules/otp/index.ts'
import { lockActiveUser } from '../../modules/users/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { emailNotConfirmed, phoneNotConfirmed, validationFailed } from '../../schemas/errors.ts'
import { MessageId } from '../../schemas/values/empty.ts'

interface SendContext {
  ip: string
  now: Date
}

const reauthenticate: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db, rateLimits } = app

  app.get(
    '/reauthenticate',
    {
      config: { rateLimit: rateLimits.otp, rejectsImpersonation: true },
      schema: {
        summary: 'Send the reauthentication code that a password change requires',
        description: 'Sent to the email address, or to the phone of a user without one.',
        tags: ['user'],
        response: { 200: MessageId, ...ErrorResponses },
      },
    },
    async (request) => {
      const at = { ip: request.clientIp, now: new Date() }
      const { user } = bearerAuth.getAuth(request)
      const to = await findNonceRecipient(db, user, at.now)
      if (to === 'email') return { message_id: await sendMail(app, user, at) }
      if (to && user.phone) {
        return { message_id: await sendReauthenticationSms(app, user, user.phone, at) }
      }
      throw validationFailed(
        'Reauthentication requires the user to have an email or a phone number, which they have had for a day',
      )
    },
  )
}

async function sendMail(app: FastifyInstance, user: UserRecord, at: SendContext): Promise<string> {
  if (!user.email_confirmed_at) throw emailNotConfirmed('Please verify your email first.', 422)
  return app.db.transaction().execute(async (trx) => {
    await lockActiveUser(trx, user.id, at.now)
    return sendReauthentication(app, trx, user, at)
  })
}

async function sendReauthenticationSms(
  app: FastifyInstance,
  user: UserRecord,
  phone: string,
  at: SendContext,
): Promise<string> {
  if (!user.phone_confirmed_at) throw phoneNotConfirmed('Please verify your phone first.', 422)
  const to = { phone, channel: 'sms', owner: user } as const
  const sent = await sendSms(
    app,
    app.db,
    { purpose: 'reauthentication', countsAs: 'sign_in', ...to },
    at.now,
  )
  await app.db.transaction().execute(async (trx) => {
    await lockActiveUser(trx, user.id, at.now)
    await acceptSentReauthentication(app, trx, user, sent, at)
  })
  return sent.messageId
}

export default reauthenticate
