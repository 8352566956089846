import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { requestEmailOtp } from '../../modules/credentials/index.ts'
import { readLinkContext } from '../../modules/flows/index.ts'
import { canonicalUsername } from '../../modules/usernames/index.ts'
import { needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { emailProviderDisabled, validationFailed } from '../../schemas/errors.ts'
import { CaptchaFields, normalizeEmail, PkceFields, RedirectQuery } from '../../schemas/fields.ts'
import { EmptyObject } from '../../schemas/values/empty.ts'

const Body = Type.Object({
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
        body: Body,
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

  function readAccount({ email = '', username }: Static<typeof Body>) {
    if (email === '' && username && usernames.rules) {
      const address = canonicalUsername(username)
      if (address === undefined) throw validationFailed('This is not a username', 422)
      return { kind: 'username_recovery' as const, address }
    }
    if (email === '') throw validationFailed('Password recovery requires an email')
    return { kind: 'recovery' as const, address: normalizeEmail(email) }
  }
}

export default recover
