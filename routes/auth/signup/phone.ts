import type { FastifyInstance, FastifyRequest } from 'fastify'

import { readSignUpUsername, reserveUsername } from '../../../modules/usernames/index.ts'
import {
  callBeforeUserCreatedForSignUp,
  findRepeatedSignUp,
  recordRejectedSignUp,
  sendSignUpOtp,
  signUpAutoconfirmed,
  signUpByPhone,
} from '../../../modules/users/index.ts'
import { phoneProviderDisabled, validationFailed } from '../../../schemas/errors.ts'
import { normalizePhone } from '../../../schemas/fields.ts'
import type { SignUpBody } from '../../../schemas/sign-up.ts'

/** Throws phone_provider_disabled or validation_failed, and the errors of the sign-up by phone. */
export async function signUpWithPhone(
  app: FastifyInstance,
  request: FastifyRequest<{ Body: SignUpBody }>,
  password: string,
  now: Date,
) {
  const { config, db, passwords } = app
  const { audience: aud, body, clientInfo, clientIp: ip, sendingNetwork: network } = request
  if (body.email) {
    throw validationFailed('Only an email address or phone number should be provided on signup.')
  }
  const channel = app.sms.parseChannel(body.channel)
  if (body.code_challenge) throw validationFailed('PKCE not supported for phone signups')
  if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
    throw phoneProviderDisabled('Phone signups are disabled', 400)
  }
  const contact = { provider: 'phone' as const, address: normalizePhone(body.phone ?? '') }
  // Before the look-up, so that the response takes the same time for a number in use and a new one.
  const { data = {} } = body
  const permit = await callBeforeUserCreatedForSignUp(app, { contact, aud, data }, ip)
  const passwordHash = await passwords.hashForSignUp(contact.address, password)
  const user = { contact, aud, passwordHash, data, permit, byAdmin: false }
  const repeated = await findRepeatedSignUp(app, db, user, { password, clientInfo }, now)
  const signUp = { user, repeated, channel, network, ip }
  const name = readSignUpUsername(app, body.username)
  // Before a message is sent.
  if (app.usernames.rules) {
    const named = { name, address: contact.address, network }
    await db.transaction().execute((trx) => reserveUsername(app, trx, named, now))
  }
  if (config.AUTH_SMS_AUTOCONFIRM) {
    return db.transaction().execute((trx) => signUpAutoconfirmed(app, trx, signUp, now))
  }
  const sending = sendSignUpOtp(app, db, signUp, now)
  const sent = await sending.catch((error) => recordRejectedSignUp(app, db, user, error))
  return db.transaction().execute((trx) => signUpByPhone(app, trx, signUp, sent, now))
}
