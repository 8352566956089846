import type { FastifyRequest } from 'fastify'

import { phoneProviderDisabled, validationFailed } from '../../../errors.ts'
import type { House } from '../../../plugins/define-plugin.ts'
import { normalizePhone } from '../../../schemas/fields.ts'
import type { SignUpBody } from '../../../schemas/sign-up.ts'

type Needs = House<'config' | 'db' | 'passwords' | 'sms' | 'users'>

/** Throws phone_provider_disabled or validation_failed, and what the sign-up by phone throws. */
export async function signUpByPhone(
  { config, db, passwords, sms, users }: Needs,
  { audience: aud, body, client, clientIp: ip }: FastifyRequest<{ Body: SignUpBody }>,
  password: string,
  now: Date,
) {
  if (body.email) {
    throw validationFailed('Only an email address or phone number should be provided on signup.')
  }
  const channel = sms.channelOf(body.channel)
  if (body.code_challenge) throw validationFailed('PKCE not supported for phone signups')
  if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
    throw phoneProviderDisabled('Phone signups are disabled', 400)
  }
  const contact = { provider: 'phone' as const, address: normalizePhone(body.phone ?? '') }
  // Before anybody looks who is known, so that a taken number costs as much as a new one.
  const { data = {} } = body
  const approval = await users.approveSignUp({ contact, aud, data }, ip)
  const passwordHash = await passwords.hash(password)
  const person = { contact, aud, passwordHash, data, approval, byAdmin: false }
  const repeated = await users.findRepeated(db, person, { password, client }, now)
  const signUp = { person, repeated, channel, ip }
  if (users.phoneAutoconfirm) {
    return db.transaction().execute((trx) => users.signUpByPhoneAtOnce(trx, signUp, now))
  }
  const sent = await users.askPhoneSignUp(db, signUp, now)
  return db.transaction().execute((trx) => users.signUpByPhone(trx, signUp, sent, now))
}
