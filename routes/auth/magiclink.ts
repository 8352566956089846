import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { Empty } from '../../schemas/empty.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { CaptchaFields, Metadata, PkceFields, RedirectQuery } from '../../schemas/fields.ts'

const Body = Type.Object({
  email: Type.Optional(Type.String()),
  data: Type.Optional(Metadata),
  ...PkceFields,
  ...CaptchaFields,
})

const magiclink: FastifyPluginAsyncTypebox = async (fastify) => {
  const { captcha, credentials, db, rateLimits } = fastify

  fastify.post(
    '/magiclink',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.otp },
      schema: {
        summary: 'Mail a link and a code to sign in with',
        description: 'Signs up whoever is new. Answers the same for every address.',
        tags: ['auth'],
        querystring: RedirectQuery,
        body: Body,
        response: { 200: Empty, ...ErrorResponses },
      },
    },
    async (request) => {
      const now = new Date()
      const asked = credentials.readMagicLink(request, request.body)
      await db.transaction().execute((trx) => credentials.askByEmail(trx, asked, now))
      return {}
    },
  )
}

export default magiclink
