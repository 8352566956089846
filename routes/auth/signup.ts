/** Sign-up by email or phone, or anonymously. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { createAuditEntry } from '../../modules/audit/index.ts'
import { readLinkContext } from '../../modules/flows/index.ts'
import { createSession, toTokenResponse } from '../../modules/sessions/index.ts'
import {
  getUsernameRules,
  isAvailable,
  readSignUpUsername,
  readUsername,
  reserveUsername,
} from '../../modules/usernames/index.ts'
import {
  callBeforeUserCreated,
  callBeforeUserCreatedForSignUp,
  checkMetadataSize,
  createUserWithSession,
  findRepeatedSignUp,
  recordRejectedSignUp,
  sendSignUpOtp,
  signUpAutoconfirmed,
  signUpByEmail,
  signUpByPhone,
} from '../../modules/users/index.ts'
import { needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import {
  anonymousProviderDisabled,
  emailProviderDisabled,
  phoneProviderDisabled,
  signupDisabled,
  userAlreadyExists,
  validationFailed,
} from '../../schemas/errors.ts'
import {
  CaptchaFields,
  normalizeEmail,
  normalizePhone,
  RedirectQuery,
} from '../../schemas/fields.ts'
import { Session } from '../../schemas/session.ts'
import { SignUpBody } from '../../schemas/sign-up.ts'
import { toUser, User } from '../../schemas/user.ts'

const SignedUp = Type.Union([Session, User])

const signup: FastifyPluginAsyncTypebox = async (app) => {
  const { captcha, rateLimits } = app

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
      const { body } = request
      checkMetadataSize(app, { user_metadata: body.data })
      const isAnonymous = !body.email && !body.phone
      return isAnonymous
        ? signUpAnonymously(app, request, now)
        : signUpWithPassword(app, request, now)
    },
  )
}

/**
 * Returns a session, or the user while a confirmation is missing. Who signs up again gets a user who is not stored, or
 * user_already_exists.
 */
async function signUpWithPassword(
  app: FastifyInstance,
  request: FastifyRequest<{ Body: SignUpBody }>,
  now: Date,
) {
  const { audit, config, db } = app
  const { body, clientInfo, clientIp } = request
  const password = await readPassword(app, body)
  readSignUpUsername(app, body.username)
  const signUp = body.phone ? signUpWithPhone : signUpWithEmail
  const outcome = await signUp(app, request, password, now)
  if (outcome.state === 'confirmation_required') return toUser(outcome.user)
  if (outcome.state === 'confirmed') {
    const { user } = outcome
    const provider = body.phone ? 'phone' : 'email'
    const entry = createAuditEntry(audit, 'login', user, clientIp, { provider })
    const passwordHash = user.encrypted_password ?? ''
    const method = 'password' as const
    const authentication = { method, passwordHash, clientInfo, audit: entry }
    return toTokenResponse(app, await createSession(app, db, user, authentication, now), now)
  }
  if (outcome.reveal) throw userAlreadyExists()
  if (config.dev) request.log.warn(ignoredMessage)
  return toUser(outcome.dummy)
}

/** Logged for developers; clients must not be notified. */
const ignoredMessage = 'sign-up ignored: a user already has this address or number'

async function readPassword(
  { config, passwords }: FastifyInstance,
  { password }: SignUpBody,
): Promise<string> {
  if (config.AUTH_DISABLE_SIGNUP) throw signupDisabled()
  if (!password) throw validationFailed('Signup requires a valid password')
  await passwords.checkStrength(password)
  return password
}

/** Throws email_provider_disabled, validation_failed or email_address_invalid, and the errors of `signUpByEmail`. */
async function signUpWithEmail(
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

/** Throws phone_provider_disabled or validation_failed, and the errors of the sign-up by phone. */
async function signUpWithPhone(
  app: FastifyInstance,
  request: FastifyRequest<{ Body: SignUpBody }>,
  password: string,
  now: Date,
) {
  const { config, db, passwords } = app
  const { audience: aud, body, clientInfo, clientIp: ip, sendingNetwork: network } = request
  if (body.email) {
    throw validationFailed('Only an email address or phone number should be provided on signup.')
  }
  const channel = app.sms.parseChannel(body.channel)
  if (body.code_challenge) throw validationFailed('PKCE not supported for phone signups')
  if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
    throw phoneProviderDisabled('Phone signups are disabled', 400)
  }
  const contact = { provider: 'phone' as const, address: normalizePhone(body.phone ?? '') }
  // Before the look-up, so that the response takes the same time for a number in use and a new one.
  const { data = {} } = body
  const permit = await callBeforeUserCreatedForSignUp(app, { contact, aud, data }, ip)
  const passwordHash = await passwords.hashForSignUp(contact.address, password)
  const user = { contact, aud, passwordHash, data, permit, byAdmin: false }
  const repeated = await findRepeatedSignUp(app, db, user, { password, clientInfo }, now)
  const signUp = { user, repeated, channel, network, ip }
  const name = readSignUpUsername(app, body.username)
  // Before a message is sent.
  if (app.usernames.rules) {
    const named = { name, address: contact.address, network }
    await db.transaction().execute((trx) => reserveUsername(app, trx, named, now))
  }
  if (config.AUTH_SMS_AUTOCONFIRM) {
    return db.transaction().execute((trx) => signUpAutoconfirmed(app, trx, signUp, now))
  }
  const sending = sendSignUpOtp(app, db, signUp, now)
  const sent = await sending.catch((error) => recordRejectedSignUp(app, db, user, error))
  return db.transaction().execute((trx) => signUpByPhone(app, trx, signUp, sent, now))
}

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

const UsernameBody = Type.Object({ username: Type.Optional(Type.String(needed)), ...CaptchaFields })
const Availability = Type.Object({
  username: Type.String({ description: 'The form in which it is stored and compared' }),
  available: Type.Boolean(),
})

const signupUsername: FastifyPluginAsyncTypebox = async (app) => {
  const { captcha, db, rateLimits } = app

  app.post(
    '/signup/username',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.otp },
      schema: {
        summary: 'Check whether a username is available',
        description: 'Counted and protected by a captcha as a sign-up is.',
        tags: ['auth'],
        body: UsernameBody,
        response: { 200: Availability, ...ErrorResponses },
      },
    },
    async ({ body: { username: input = '' } }) => {
      const rules = getUsernameRules(app)
      const name = readUsername(rules, input)
      const available = await isAvailable(rules, db, name, null, new Date())
      return { username: name.username, available }
    },
  )
}

export const signUpRoutes = { signup, signupUsername }
