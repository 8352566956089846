import type { FastifyRequest } from 'fastify'

import { readSignUpUsername, reserveUsername } from '../../../modules/usernames/index.ts'
import {
  callBeforeUserCreatedForSignUp,
  findRepeatedSignUp,
  recordRejectedSignUp,
  sendSignUpOtp,
  signUpAutoconfirmed,
  signUpByPhone,
} from '../../../modules/users/index.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { phoneProviderDisabled, validationFailed } from '../../../schemas/errors.ts'
import { normalizePhone } from '../../../schemas/fields.ts'
import type { SignUpBody } from '../../../schemas/sign-up.ts'

type DepNames = Deps<'config' | 'db' | 'passwords' | 'sms' | 'usernames' | 'users'>

/** Throws phone_provider_disabled or validation_failed, and the errors of the sign-up by phone. */
export async function signUpWithPhone(
  { config, db, passwords, sms, usernames, users }: DepNames,
  request: FastifyRequest<{ Body: SignUpBody }>,
  password: string,
  now: Date,
) {
  const { audience: aud, body, clientInfo, clientIp: ip, sendingNetwork: network } = request
  if (body.email) {
    throw validationFailed('Only an email address or phone number should be provided on signup.')
  }
  const channel = sms.parseChannel(body.channel)
  if (body.code_challenge) throw validationFailed('PKCE not supported for phone signups')
  if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
    throw phoneProviderDisabled('Phone signups are disabled', 400)
  }
  const contact = { provider: 'phone' as const, address: normalizePhone(body.phone ?? '') }
  // Before the look-up, so that the response takes the same time for a number in use and a new one.
  const { data = {} } = body
  const permit = await callBeforeUserCreatedForSignUp(users, { contact, aud, data }, ip)
  const passwordHash = await passwords.hashForSignUp(contact.address, password)
  const user = { contact, aud, passwordHash, data, permit, byAdmin: false }
  const repeated = await findRepeatedSignUp(users, db, user, { password, clientInfo }, now)
  const signUp = { user, repeated, channel, network, ip }
  const name = readSignUpUsername(usernames, body.username)
  // Before a message is sent.
  if (name) {
    await db.transaction().execute((trx) => reserveUsername(trx, name, contact.address, now))
  }
  if (users.config.AUTH_SMS_AUTOCONFIRM) {
    return db.transaction().execute((trx) => signUpAutoconfirmed(users, trx, signUp, now))
  }
  const sending = sendSignUpOtp(users, db, signUp, now)
  const sent = await sending.catch((error) => recordRejectedSignUp(users, db, user, error))
  return db.transaction().execute((trx) => signUpByPhone(users, trx, signUp, sent, now))
}
