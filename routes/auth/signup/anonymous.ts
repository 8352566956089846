import type { FastifyRequest } from 'fastify'

import { anonymousProviderDisabled, signupDisabled } from '../../../errors.ts'
import type { House } from '../../../plugins/define-plugin.ts'
import type { SignUpBody } from '../../../schemas/sign-up.ts'

type Needs = House<'config' | 'sessions' | 'users'>

/** A person without an address. Throws anonymous_provider_disabled or signup_disabled. */
export async function signUpAnonymously(
  { config, sessions, users }: Needs,
  { audience: aud, body, client, clientIp }: FastifyRequest<{ Body: SignUpBody }>,
  now: Date,
) {
  if (!config.AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED) throw anonymousProviderDisabled()
  if (config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
  const known = { aud, userMetadata: body.data ?? {}, appMetadata: {}, isAnonymous: true }
  const approval = await users.approve(known, clientIp)
  const person = { ...known, approval, passwordHash: null }
  const opened = await users.enter(person, { method: 'anonymous', client }, now)
  return sessions.answer(opened, now)
}
