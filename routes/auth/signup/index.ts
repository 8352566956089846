import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { signupDisabled, userAlreadyExists, validationFailed } from '../../../errors.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { RedirectQuery } from '../../../schemas/fields.ts'
import { Session } from '../../../schemas/session.ts'
import { SignUpBody } from '../../../schemas/sign-up.ts'
import { toUser, User } from '../../../schemas/user.ts'
import { signUpAnonymously } from './anonymous.ts'
import { signUpByEmail } from './email.ts'
import { signUpByPhone } from './phone.ts'

/** Clients are told nothing; whoever develops against this server is. */
const silence =
  'a sign-up came to nothing: somebody has this address or number already, so nothing was changed and nothing sent'

const SignedUp = Type.Union([Session, User])

const signup: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, captcha, config, db, passwords, rateLimits, sessions, users } = fastify

  fastify.post(
    '/signup',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.signup },
      schema: {
        summary: 'Register with an email address or phone number, or anonymously',
        description:
          'Answers a session when no confirmation is needed, otherwise the user to be confirmed. ' +
          'A repeated sign-up gets the same answer as a new one.',
        tags: ['auth'],
        querystring: RedirectQuery,
        body: SignUpBody,
        response: { 200: SignedUp, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const { body, client, clientIp } = request
      users.checkMetadata({ user_metadata: body.data })
      if (!body.email && !body.phone) return signUpAnonymously(fastify, request, now)
      const password = await readPassword(body)
      const signUp = body.phone ? signUpByPhone : signUpByEmail
      const outcome = await signUp(fastify, request, password, now)
      if (outcome.state === 'to be confirmed') return toUser(outcome.user)
      if (outcome.state === 'confirmed') {
        const provider = body.phone ? 'phone' : 'email'
        const entry = audit.entry('login', outcome.user, clientIp, { provider })
        const passwordHash = outcome.user.encrypted_password ?? ''
        const proof = { method: 'password' as const, passwordHash, client, audit: entry }
        return sessions.answer(await sessions.open(db, outcome.user, proof, now), now)
      }
      if (outcome.reveal) throw userAlreadyExists()
      if (config.dev) request.log.warn(silence)
      return toUser(outcome.decoy)
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
