import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import {
  anonymousProviderDisabled,
  emailProviderDisabled,
  signupDisabled,
  userAlreadyExists,
  validationFailed,
} from '../errors.ts'
import { ErrorResponses } from '../schemas/error.ts'
import {
  CaptchaFields,
  Metadata,
  normalizeEmail,
  PkceFields,
  RedirectQuery,
} from '../schemas/fields.ts'
import { Session } from '../schemas/session.ts'
import { toUser, User } from '../schemas/user.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String({ description: 'E.164' })),
  password: Type.Optional(Type.String()),
  data: Type.Optional(Metadata),
  channel: Type.Optional(Type.String({ description: 'sms or whatsapp' })),
  ...PkceFields,
  ...CaptchaFields,
})

const signup: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, captcha, config, db, links, passwords, rateLimits, sessions, signUps } = fastify

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
        body: Body,
        response: { 200: Type.Union([Session, User]), ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      if (config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
      if (!request.body.email && !request.body.phone) return signUpAnonymously(request, now)
      return signUpByEmail(request, now)
    },
  )

  async function signUpAnonymously(
    request: FastifyRequest<{ Body: Static<typeof Body> }>,
    now: Date,
  ) {
    if (!config.AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED) throw anonymousProviderDisabled()
    const { data = {} } = request.body
    return db.transaction().execute(async (trx) => {
      const user = await signUps.insertAnonymous(trx, config.AUTH_JWT_AUD, data, now)
      return sessions.issue(trx, user, { method: 'anonymous', client: request.client }, now)
    })
  }

  async function signUpByEmail(request: FastifyRequest<{ Body: Static<typeof Body> }>, now: Date) {
    const { password, phone, data = {} } = request.body
    if (!password) throw validationFailed('Signup requires a valid password')
    await passwords.checkStrength(password)
    if (phone) {
      throw validationFailed('Only an email address or phone number should be provided on signup.')
    }
    const context = links.contextOf(request, request.body)
    if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
      throw emailProviderDisabled('Email signups are disabled', 400)
    }
    const email = normalizeEmail(request.body.email ?? '')
    const aud = config.AUTH_JWT_AUD
    // Hashed before the look-up, so that a taken address costs as much as a new one.
    const passwordHash = await passwords.hash(password)
    const person = {
      contact: { provider: 'email' as const, address: email },
      aud,
      passwordHash,
      data,
    }

    const signUp = { person, password, context, ip: request.clientIp }
    const outcome = await db.transaction().execute((trx) => signUps.byEmail(trx, signUp, now))
    if (outcome.state === 'taken') {
      if (outcome.told) throw userAlreadyExists()
      return toUser(outcome.decoy)
    }
    if (outcome.state === 'to be confirmed') return toUser(outcome.user)
    const entry = audit.entry('login', outcome.user, request.clientIp, { provider: 'email' })
    const opening = { method: 'password' as const, client: request.client, audit: entry }
    return sessions.issue(db, outcome.user, opening, now)
  }
}

export default signup
