/** Keeps the session of the browser when the API creates another one for a code or link. */
import type { FastifyInstance } from 'fastify'

import { otpExpired } from '../../schemas/errors.ts'
import { findSignedIn, startPageSession } from '../page-session/index.ts'
import { type ApiResponse, callApi, type Exchange, textIn } from '../pages/index.ts'

/**
 * The browser keeps its session, with the second factor that was verified in it, unless the change has revoked it.
 * Throws otp_expired when the code belongs to another user.
 */
export async function settleSession(
  app: FastifyInstance,
  { request, reply }: Exchange,
  userId: string,
  response: ApiResponse,
): Promise<void> {
  const token = textIn(response, 'access_token')
  if (!token) return
  const now = new Date()
  const { sub, session_id: made = '' } = await app.jwt.verify(token)
  const current = await findSignedIn(app, request, now)
  if (sub === userId && current?.session.id !== userId) {
    reply.header('set-cookie', await startPageSession(app, made, now))
    return
  }
  await callApi(app, request, { url: '/logout?scope=local', token })
  if (sub !== userId) throw otpExpired()
}

/** Whether users can have a phone number. */
export const phonesAllowed = ({ config, sms }: FastifyInstance): boolean =>
  config.AUTH_EXTERNAL_PHONE_ENABLED || config.AUTH_SMS_AUTOCONFIRM || sms.enabled
