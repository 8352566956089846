import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { findUserByAnyEmail, findUserByPhone } from '../../db/users/users.ts'
import {
  acceptSignInCode,
  readMagicLink,
  requestEmailOtp,
  type SignInRequest,
  sendSignInCode,
} from '../../modules/credentials/index.ts'
import { readPkce } from '../../modules/flows/index.ts'
import { type Attempt, throttleAttempt } from '../../modules/otp/index.ts'
import { checkMetadataSize } from '../../modules/users/index.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import {
  ApiError,
  otpDisabled,
  phoneProviderDisabled,
  validationFailed,
} from '../../schemas/errors.ts'
import {
  CaptchaFields,
  Channel,
  Metadata,
  normalizePhone,
  Phone,
  PkceFields,
  RedirectQuery,
} from '../../schemas/fields.ts'
import { EmptyObject } from '../../schemas/values/empty.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Phone,
  channel: Channel,
  create_user: Type.Optional(
    Type.Boolean({
      description:
        'Create an account for a new address; true when absent. With false nothing is sent to one.',
    }),
  ),
  data: Type.Optional(Metadata),
  ...PkceFields,
  ...CaptchaFields,
})
type Body = Static<typeof Body>

const otp: FastifyPluginAsyncTypebox = async (app) => {
  const { captcha, config, db, emailValidation, rateLimits } = app

  app.post(
    '/otp',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.otp },
      schema: {
        summary: 'Send a one-time code by email or SMS to sign in',
        description:
          'An email also has a link. The response is the same for every address, also when create_user is false, unless ' +
          'AUTH_SECURITY_OTP_UNKNOWN_USER_ERROR is set.',
        tags: ['auth'],
        querystring: RedirectQuery,
        body: Body,
        response: { 200: EmptyObject, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const { body } = request
      checkShape(body)
      readPkce(body)
      const { phone, create_user: createUser = true } = body
      // The request is validated before the look-up, so that errors do not depend on the user.
      const emailRequest = phone ? undefined : readMagicLink(app, request, body, { createUser })
      const sms = phone ? readSmsRequest(app, body, request) : undefined
      if (!createUser && config.AUTH_SECURITY_OTP_UNKNOWN_USER_ERROR) {
        const identifier = sms ? { phone: sms.phone } : { email: emailRequest?.address ?? '' }
        await checkUserExists(app, identifier, request, now)
      }
      if (sms) await sendSignInSms(app, sms, now)
      if (emailRequest) {
        await emailValidation.check(emailRequest.address)
        await db.transaction().execute((trx) => requestEmailOtp(app, trx, emailRequest, now))
      }
      return {}
    },
  )
}

function checkShape({ email, phone, channel }: Body): void {
  if (email && phone) {
    throw validationFailed('Only an email address or phone number should be provided')
  }
  if (email && channel) {
    throw validationFailed('Channel should only be specified with Phone OTP')
  }
  if (!email && !phone) {
    throw validationFailed('One of email or phone must be set')
  }
}

/** An identifier in its stored form. */
type Identifier = { email: string } | { phone: string }

/**
 * For AUTH_SECURITY_OTP_UNKNOWN_USER_ERROR, where `create_user: false` responds as GoTrue. Throws otp_disabled for an
 * unknown identifier. Each such response is a failed attempt of the client's network. While that is blocked, the
 * response is the ordinary one, so that other clients of the network can still sign in.
 */
async function checkUserExists(
  app: FastifyInstance,
  identifier: Identifier,
  { audience: aud, clientInfo }: { audience: string; clientInfo: ClientInfo },
  now: Date,
): Promise<void> {
  const account = `users looked up from ${clientInfo.network}`
  const attempt = await throttleAttempt(app, app.db, { kind: 'code', account }, now).catch(
    undefinedIfThrottled,
  )
  if (!attempt) return
  const user =
    'email' in identifier
      ? await findUserByAnyEmail(app.db, identifier.email, aud)
      : await findUserByPhone(app.db, identifier.phone, aud)
  if (!user) throw otpDisabled()
  await attempt.succeeded(app.db)
}

function undefinedIfThrottled(error: unknown): Attempt | undefined {
  if (error instanceof ApiError && error.status === 429) return undefined
  throw error
}

interface Fields {
  phone?: string
  channel?: string
  create_user?: boolean
  data?: Record<string, unknown>
}

/** Parses a request for a code by SMS. Throws phone_provider_disabled, validation_failed or metadata_too_large. */
function readSmsRequest(
  app: FastifyInstance,
  { phone = '', channel, create_user: createUser = true, data = {} }: Fields,
  { audience: aud, clientIp: ip, sendingNetwork: network }: FastifyRequest,
): SignInRequest {
  if (!app.config.AUTH_EXTERNAL_PHONE_ENABLED) {
    throw phoneProviderDisabled('Unsupported phone provider', 400)
  }
  checkMetadataSize(app, { user_metadata: data })
  return {
    phone: normalizePhone(phone),
    channel: app.sms.parseChannel(channel),
    createUser,
    aud,
    data,
    ip,
    network,
  }
}

/** Sends a sign-in code by SMS. Throws the errors of `sendSignInCode`. */
async function sendSignInSms(
  app: FastifyInstance,
  request: SignInRequest,
  now: Date,
): Promise<void> {
  const code = await sendSignInCode(app, app.db, request, now)
  await app.db.transaction().execute((trx) => acceptSignInCode(app, trx, request, code, now))
}

export default otp
