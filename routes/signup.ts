import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import type { UserRecord } from '../db/users.ts'
import {
  anonymousProviderDisabled,
  emailProviderDisabled,
  phoneProviderDisabled,
  signupDisabled,
  userAlreadyExists,
  validationFailed,
} from '../errors.ts'
import type { Contact } from '../plugins/accounts/sign-ups/registration.ts'
import { ErrorResponses } from '../schemas/error.ts'
import {
  CaptchaFields,
  Metadata,
  normalizeEmail,
  normalizePhone,
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

const SignedUp = Type.Union([Session, User])

type SignUpBody = Static<typeof Body>
type SignUpRequest = FastifyRequest<{ Body: SignUpBody }>

const signup: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, captcha, config, db, links, passwords, rateLimits } = fastify
  const { phoneSignUps, sessions, signUps, sms } = fastify

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
        response: { 200: SignedUp, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const { email, phone } = request.body
      if (!email && !phone) return signUpAnonymously(request, now)
      const outcome = phone ? await byPhone(request, now) : await byEmail(request, now)
      if (outcome.state === 'to be confirmed') return toUser(outcome.user)
      if (outcome.state === 'confirmed') return openSession(request, outcome.user, now)
      if (outcome.told) throw userAlreadyExists()
      return toUser(outcome.decoy)
    },
  )

  async function signUpAnonymously({ body, client }: SignUpRequest, now: Date) {
    if (!config.AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED) throw anonymousProviderDisabled()
    if (config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
    const { data = {} } = body
    return db.transaction().execute(async (trx) => {
      const user = await signUps.insertAnonymous(trx, config.AUTH_JWT_AUD, data, now)
      return sessions.issue(trx, user, { method: 'anonymous', client }, now)
    })
  }

  async function byEmail(request: SignUpRequest, now: Date) {
    const { body, clientIp: ip } = request
    const password = await readPassword(body)
    const context = links.contextOf(request, body)
    if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
      throw emailProviderDisabled('Email signups are disabled', 400)
    }
    const contact = { provider: 'email' as const, address: normalizeEmail(body.email ?? '') }
    const person = await toPerson(contact, password, body)
    const signUp = { person, password, context, ip }
    return db.transaction().execute((trx) => signUps.byEmail(trx, signUp, now))
  }

  async function byPhone({ body, clientIp: ip }: SignUpRequest, now: Date) {
    const password = await readPassword(body)
    if (body.email) {
      throw validationFailed('Only an email address or phone number should be provided on signup.')
    }
    const channel = sms.channelOf(body.channel)
    if (body.code_challenge) throw validationFailed('PKCE not supported for phone signups')
    if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
      throw phoneProviderDisabled('Phone signups are disabled', 400)
    }
    const contact = { provider: 'phone' as const, address: normalizePhone(body.phone ?? '') }
    const person = await toPerson(contact, password, body)
    const signUp = { person, password, channel, ip }
    if (phoneSignUps.autoconfirm) {
      return db.transaction().execute((trx) => phoneSignUps.atOnce(trx, signUp, now))
    }
    const sent = await phoneSignUps.ask(db, signUp, now)
    return db.transaction().execute((trx) => phoneSignUps.register(trx, signUp, sent, now))
  }

  async function readPassword({ password }: SignUpBody): Promise<string> {
    if (config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
    if (!password) throw validationFailed('Signup requires a valid password')
    await passwords.checkStrength(password)
    return password
  }

  /** Hashes before anybody looks who is known, so that a taken address costs as much as a new one. */
  async function toPerson(contact: Contact, password: string, { data = {} }: SignUpBody) {
    const passwordHash = await passwords.hash(password)
    return { contact, aud: config.AUTH_JWT_AUD, passwordHash, data }
  }

  function openSession({ client, clientIp, body }: SignUpRequest, user: UserRecord, now: Date) {
    const provider = body.phone ? 'phone' : 'email'
    const entry = audit.entry('login', user, clientIp, { provider })
    return sessions.issue(db, user, { method: 'password', client, audit: entry }, now)
  }
}

export default signup
