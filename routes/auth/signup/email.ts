import type { FastifyInstance, FastifyRequest } from 'fastify'

import { readLinkContext } from '../../../modules/flows/index.ts'
import { readSignUpUsername, reserveUsername } from '../../../modules/usernames/index.ts'
import {
  callBeforeUserCreatedForSignUp,
  findRepeatedSignUp,
  recordRejectedSignUp,
  signUpByEmail,
} from '../../../modules/users/index.ts'
import { emailProviderDisabled } from '../../../schemas/errors.ts'
import { normalizeEmail } from '../../../schemas/fields.ts'
import type { SignUpBody } from '../../../schemas/sign-up.ts'

/** Throws email_provider_disabled, validation_failed or email_address_invalid, and the errors of `signUpByEmail`. */
export async function signUpWithEmail(
  app: FastifyInstance,
  request: FastifyRequest<{ Body: SignUpBody }>,
  password: string,
  now: Date,
) {
  const { config, db, passwords, emailValidation } = app
  const { audience: aud, body, clientInfo, clientIp: ip, sendingNetwork: network } = request
  const context = readLinkContext(app, request, body)
  if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
    throw emailProviderDisabled('Email signups are disabled', 400)
  }
  const contact = { provider: 'email' as const, address: normalizeEmail(body.email ?? '') }
  // As in GoTrue, an address that gets no email is not checked.
  if (!config.AUTH_MAILER_AUTOCONFIRM) await emailValidation.check(contact.address)
  // Before the look-up, so that the response takes the same time for an email in use and a new one.
  const { data = {} } = body
  const permit = await callBeforeUserCreatedForSignUp(app, { contact, aud, data }, ip)
  const passwordHash = await passwords.hashForSignUp(contact.address, password)
  const user = { contact, aud, passwordHash, data, permit, byAdmin: false }
  const repeated = await findRepeatedSignUp(app, db, user, { password, clientInfo }, now)
  const signUp = { user, repeated, context, ip }
  const name = readSignUpUsername(app, body.username)
  const registered = db.transaction().execute(async (trx) => {
    await reserveUsername(app, trx, { name, address: contact.address, network }, now)
    return signUpByEmail(app, trx, signUp, now)
  })
  return registered.catch((error) => recordRejectedSignUp(app, db, user, error))
}
