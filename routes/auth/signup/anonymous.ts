import type { FastifyRequest } from 'fastify'

import { toTokenResponse } from '../../../modules/sessions/index.ts'
import { callBeforeUserCreated, createUserWithSession } from '../../../modules/users/index.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { anonymousProviderDisabled, signupDisabled } from '../../../schemas/errors.ts'
import type { SignUpBody } from '../../../schemas/sign-up.ts'

type DepNames = Deps<'config' | 'sessions' | 'users'>

/** Creates an anonymous user. Throws anonymous_provider_disabled or signup_disabled. */
export async function signUpAnonymously(
  { config, sessions, users }: DepNames,
  { audience: aud, body, clientInfo, clientIp }: FastifyRequest<{ Body: SignUpBody }>,
  now: Date,
) {
  if (!config.AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED) throw anonymousProviderDisabled()
  if (config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
  const known = { aud, userMetadata: body.data ?? {}, appMetadata: {}, isAnonymous: true }
  const permit = await callBeforeUserCreated(users, known, clientIp)
  const user = { ...known, permit, passwordHash: null }
  const opened = await createUserWithSession(users, user, { method: 'anonymous', clientInfo }, now)
  return toTokenResponse(sessions, opened, now)
}
