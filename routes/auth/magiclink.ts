import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { readMagicLink, requestEmailOtp } from '../../modules/credentials/index.ts'
import { needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { CaptchaFields, Metadata, PkceFields, RedirectQuery } from '../../schemas/fields.ts'
import { EmptyObject } from '../../schemas/values/empty.ts'

const Body = Type.Object({
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
        body: Body,
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

export default magiclink
