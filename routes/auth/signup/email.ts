import type { FastifyRequest } from 'fastify'

import { readLinkContext } from '../../../modules/flows/index.ts'
import { readSignUpUsername, reserveUsername } from '../../../modules/usernames/index.ts'
import {
  callBeforeUserCreatedForSignUp,
  findRepeatedSignUp,
  recordRejectedSignUp,
  signUpByEmail,
} from '../../../modules/users/index.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { emailProviderDisabled } from '../../../schemas/errors.ts'
import { normalizeEmail } from '../../../schemas/fields.ts'
import type { SignUpBody } from '../../../schemas/sign-up.ts'

type DepNames = Deps<'config' | 'db' | 'flows' | 'passwords' | 'usernames' | 'users'>

/** Throws email_provider_disabled or validation_failed, and the errors of `signUpByEmail`. */
export async function signUpWithEmail(
  { config, db, flows, passwords, usernames, users }: DepNames,
  request: FastifyRequest<{ Body: SignUpBody }>,
  password: string,
  now: Date,
) {
  const { audience: aud, body, clientInfo, clientIp: ip } = request
  const context = readLinkContext(flows, request, body)
  if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
    throw emailProviderDisabled('Email signups are disabled', 400)
  }
  const contact = { provider: 'email' as const, address: normalizeEmail(body.email ?? '') }
  // Before the look-up, so that the response takes the same time for an email in use and a new one.
  const { data = {} } = body
  const permit = await callBeforeUserCreatedForSignUp(users, { contact, aud, data }, ip)
  const passwordHash = await passwords.hashForSignUp(contact.address, password)
  const user = { contact, aud, passwordHash, data, permit, byAdmin: false }
  const repeated = await findRepeatedSignUp(users, db, user, { password, clientInfo }, now)
  const signUp = { user, repeated, context, ip }
  const name = readSignUpUsername(usernames, body.username)
  const registered = db.transaction().execute(async (trx) => {
    if (name) await reserveUsername(trx, name, contact.address, now)
    return signUpByEmail(users, trx, signUp, now)
  })
  return registered.catch((error) => recordRejectedSignUp(users, db, user, error))
}
