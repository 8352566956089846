/**
 * Requests for an email with a link: to sign in, to recover the account, and to confirm an address once more. A
 * confirmation of a phone number is sent again here too.
 */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { readMagicLink, requestEmailOtp, resendSms } from '../../modules/credentials/index.ts'
import { readLinkContext } from '../../modules/flows/index.ts'
import { canonicalUsername } from '../../modules/usernames/index.ts'
import { choices, needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import {
  emailProviderDisabled,
  phoneProviderDisabled,
  validationFailed,
} from '../../schemas/errors.ts'
import {
  CaptchaFields,
  Metadata,
  normalizeEmail,
  normalizePhone,
  Phone,
  PkceFields,
  RedirectQuery,
} from '../../schemas/fields.ts'
import { EmptyObject, MessageId } from '../../schemas/values/empty.ts'

const MagicLinkBody = Type.Object({
  email: Type.Optional(Type.String(needed)),
  data: Type.Optional(Metadata),
  ...PkceFields,
  ...CaptchaFields,
})

const magiclink: FastifyPluginAsyncTypebox = async (app) => {
  const { captcha, db, emailValidation, rateLimits } = app

  app.post(
    '/magiclink',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.otp },
      schema: {
        summary: 'Send an email with a sign-in link and code',
        description: 'Signs up new users. The response is the same for every address.',
        tags: ['auth'],
        querystring: RedirectQuery,
        body: MagicLinkBody,
        response: { 200: EmptyObject, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const emailRequest = readMagicLink(app, request, request.body, { createUser: true })
      await emailValidation.check(emailRequest.address)
      await db.transaction().execute((trx) => requestEmailOtp(app, trx, emailRequest, now))
      return {}
    },
  )
}

const RecoveryBody = Type.Object({
  email: Type.Optional(Type.String(needed)),
  username: Type.Optional(
    Type.String({ description: 'Instead of email, with AUTH_USERNAMES_ENABLED' }),
  ),
  ...PkceFields,
  ...CaptchaFields,
})

const recover: FastifyPluginAsyncTypebox = async (app) => {
  const { captcha, config, db, emailValidation, rateLimits, usernames } = app

  app.post(
    '/recover',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.otp },
      schema: {
        summary: 'Send a password recovery email',
        description: 'The response does not reveal whether a user has this address.',
        tags: ['auth'],
        querystring: RedirectQuery,
        body: RecoveryBody,
        response: { 200: EmptyObject, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
        throw emailProviderDisabled('Email logins are disabled', 400)
      }
      const emailRequest = {
        ...readAccount(request.body),
        aud: request.audience,
        data: {},
        context: readLinkContext(app, request, request.body),
        ip: request.clientIp,
      }
      if (emailRequest.kind === 'recovery') await emailValidation.check(emailRequest.address)
      await db.transaction().execute((trx) => requestEmailOtp(app, trx, emailRequest, now))
      return {}
    },
  )

  function readAccount({ email = '', username }: Static<typeof RecoveryBody>) {
    if (email === '' && username && usernames.rules) {
      const address = canonicalUsername(username)
      if (address === undefined) throw validationFailed('This is not a username', 422)
      return { kind: 'username_recovery' as const, address }
    }
    if (email === '') throw validationFailed('Password recovery requires an email')
    return { kind: 'recovery' as const, address: normalizeEmail(email) }
  }
}

const ResendBody = Type.Object({
  type: Type.Optional(
    Type.String({ ...needed, ...choices('signup', 'email_change', 'sms', 'phone_change') }),
  ),
  email: Type.Optional(Type.String()),
  phone: Phone,
  ...PkceFields,
  ...CaptchaFields,
})
type ResendBody = Static<typeof ResendBody>

const emailKinds = { signup: 'confirmation', email_change: 'email_change' } as const

const resendSchema = {
  summary: 'Resend a confirmation',
  description: 'The response does not reveal whether a confirmation is pending.',
  tags: ['auth'],
  querystring: RedirectQuery,
  body: ResendBody,
  response: { 200: MessageId, ...ErrorResponses },
}

const resend: FastifyPluginAsyncTypebox = async (app) => {
  const { captcha, config, db, emailValidation, rateLimits } = app

  app.post(
    '/resend',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.otp },
      schema: resendSchema,
    },
    async (request) => {
      const now = new Date()
      const { body } = request
      const kind = readKind(body)
      const context = readLinkContext(app, request, body)
      const { audience: aud, clientIp: ip, sendingNetwork: network } = request
      const who = { aud, ip }
      const address = kind && readAddress(body)
      if (address) await emailValidation.check(address)
      const message_id = await db.transaction().execute((trx) => {
        if (!kind || !address) {
          return resendSms(app, trx, { ...readText(body), ...who, network }, now)
        }
        return requestEmailOtp(app, trx, { kind, address, data: {}, context, ...who }, now)
      })
      return { message_id }
    },
  )

  /** The requested email; undefined for an SMS. Throws validation_failed. */
  function readKind({ type = '', email, phone }: ResendBody) {
    const isMail = type === 'signup' || type === 'email_change'
    if (!isMail && !isText(type)) {
      throw validationFailed('Missing one of these types: signup, email_change, sms, phone_change')
    }
    if (email && phone) {
      throw validationFailed('Only an email address or phone number should be provided.')
    }
    if (isMail && !email) throw validationFailed(`Type ${type} requires an email address`)
    if (!isMail && !phone) throw validationFailed(`Type ${type} requires a phone number`)
    return isMail ? emailKinds[type] : undefined
  }

  function readAddress({ email = '' }: ResendBody): string {
    if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
      throw emailProviderDisabled('Email logins are disabled', 400)
    }
    return normalizeEmail(email)
  }

  function readText({ type = '', phone = '' }: ResendBody) {
    if (!config.AUTH_EXTERNAL_PHONE_ENABLED) {
      throw phoneProviderDisabled('Phone logins are disabled', 400)
    }
    const purpose = type === 'sms' ? ('confirmation' as const) : ('phone_change' as const)
    return { purpose, phone: normalizePhone(phone) }
  }
}

function isText(type: string): boolean {
  return type === 'sms' || type === 'phone_change'
}

export const emailLinkRoutes = { magiclink, recover, resend }
