import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { createAuditEntry } from '../../../modules/audit/index.ts'
import { createSession, toTokenResponse } from '../../../modules/sessions/index.ts'
import { readSignUpUsername } from '../../../modules/usernames/index.ts'
import {
  callBeforeUserCreated,
  checkMetadataSize,
  createUserWithSession,
} from '../../../modules/users/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import {
  anonymousProviderDisabled,
  signupDisabled,
  userAlreadyExists,
  validationFailed,
} from '../../../schemas/errors.ts'
import { RedirectQuery } from '../../../schemas/fields.ts'
import { Session } from '../../../schemas/session.ts'
import { SignUpBody } from '../../../schemas/sign-up.ts'
import { toUser, User } from '../../../schemas/user.ts'
import { signUpWithEmail } from './email.ts'
import { signUpWithPhone } from './phone.ts'

/** Logged for developers; clients must not be notified. */
const ignoredMessage = 'sign-up ignored: a user already has this address or number'

const SignedUp = Type.Union([Session, User])

const signup: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, captcha, config, db, passwords, rateLimits } = app

  app.post(
    '/signup',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.signup },
      schema: {
        summary: 'Sign up with an email address, a phone number, or anonymously',
        description:
          'Returns a session when no confirmation is needed, otherwise the unconfirmed user. ' +
          'A repeated sign-up gets the same response as a new one.',
        tags: ['auth'],
        querystring: RedirectQuery,
        body: SignUpBody,
        response: { 200: SignedUp, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const { body, clientInfo, clientIp } = request
      checkMetadataSize(app, { user_metadata: body.data })
      if (!body.email && !body.phone) return signUpAnonymously(app, request, now)
      const password = await readPassword(body)
      readSignUpUsername(app, body.username)
      const signUp = body.phone ? signUpWithPhone : signUpWithEmail
      const outcome = await signUp(app, request, password, now)
      if (outcome.state === 'confirmation_required') return toUser(outcome.user)
      if (outcome.state === 'confirmed') {
        const provider = body.phone ? 'phone' : 'email'
        const entry = createAuditEntry(audit, 'login', outcome.user, clientIp, { provider })
        const passwordHash = outcome.user.encrypted_password ?? ''
        const authentication = {
          method: 'password' as const,
          passwordHash,
          clientInfo,
          audit: entry,
        }
        return toTokenResponse(
          app,
          await createSession(app, db, outcome.user, authentication, now),
          now,
        )
      }
      if (outcome.reveal) throw userAlreadyExists()
      if (config.dev) request.log.warn(ignoredMessage)
      return toUser(outcome.dummy)
    },
  )

  async function readPassword({ password }: SignUpBody): Promise<string> {
    if (config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
    if (!password) throw validationFailed('Signup requires a valid password')
    await passwords.checkStrength(password)
    return password
  }
}

export default signup

/** Creates an anonymous user. Throws anonymous_provider_disabled or signup_disabled. */
async function signUpAnonymously(
  app: FastifyInstance,
  { audience: aud, body, clientInfo, clientIp }: FastifyRequest<{ Body: SignUpBody }>,
  now: Date,
) {
  if (!app.config.AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED) throw anonymousProviderDisabled()
  if (app.config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
  const known = { aud, userMetadata: body.data ?? {}, appMetadata: {}, isAnonymous: true }
  const permit = await callBeforeUserCreated(app, known, clientIp)
  const user = { ...known, permit, passwordHash: null }
  const opened = await createUserWithSession(app, user, { method: 'anonymous', clientInfo }, now)
  return toTokenResponse(app, opened, now)
}
