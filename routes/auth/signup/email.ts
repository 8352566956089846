import type { FastifyRequest } from 'fastify'

import { emailProviderDisabled } from '../../../errors.ts'
import type { House } from '../../../plugins/define-plugin.ts'
import { normalizeEmail } from '../../../schemas/fields.ts'
import type { SignUpBody } from '../../../schemas/sign-up.ts'

type Needs = House<'config' | 'db' | 'flows' | 'passwords' | 'users'>

/** Throws email_provider_disabled or validation_failed, and what `users.signUpByEmail` throws. */
export async function signUpByEmail(
  { config, db, flows, passwords, users }: Needs,
  request: FastifyRequest<{ Body: SignUpBody }>,
  password: string,
  now: Date,
) {
  const { audience: aud, body, client, clientIp: ip } = request
  const context = flows.linkContext(request, body)
  if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
    throw emailProviderDisabled('Email signups are disabled', 400)
  }
  const contact = { provider: 'email' as const, address: normalizeEmail(body.email ?? '') }
  // Before anybody looks who is known, so that a taken address costs as much as a new one.
  const { data = {} } = body
  const approval = await users.approveSignUp({ contact, aud, data }, ip)
  const passwordHash = await passwords.hash(password)
  const person = { contact, aud, passwordHash, data, approval, byAdmin: false }
  const repeated = await users.findRepeated(db, person, { password, client }, now)
  const signUp = { person, repeated, context, ip }
  return db.transaction().execute((trx) => users.signUpByEmail(trx, signUp, now))
}
