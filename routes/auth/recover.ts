import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { emailProviderDisabled, validationFailed } from '../../errors.ts'
import { Empty } from '../../schemas/empty.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { CaptchaFields, normalizeEmail, PkceFields, RedirectQuery } from '../../schemas/fields.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  ...PkceFields,
  ...CaptchaFields,
})

const recover: FastifyPluginAsyncTypebox = async (fastify) => {
  const { captcha, config, credentials, db, flows, rateLimits } = fastify

  fastify.post(
    '/recover',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.otp },
      schema: {
        summary: 'Mail a link with which a forgotten password can be replaced',
        description: 'Answers the same whether or not somebody has this address.',
        tags: ['auth'],
        querystring: RedirectQuery,
        body: Body,
        response: { 200: Empty, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      if (!config.AUTH_EXTERNAL_EMAIL_ENABLED) {
        throw emailProviderDisabled('Email logins are disabled', 400)
      }
      const { email = '' } = request.body
      if (email === '') throw validationFailed('Password recovery requires an email')
      const asked = {
        kind: 'recovery' as const,
        address: normalizeEmail(email),
        aud: request.audience,
        data: {},
        context: flows.linkContext(request, request.body),
        ip: request.clientIp,
      }
      await db.transaction().execute((trx) => credentials.askByEmail(trx, asked, now))
      return {}
    },
  )
}

export default recover
