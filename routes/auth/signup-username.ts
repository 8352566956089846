import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { getUsernameRules, isAvailable, readUsername } from '../../modules/usernames/index.ts'
import { needed } from '../../schemas/documented.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { CaptchaFields } from '../../schemas/fields.ts'

const Body = Type.Object({ username: Type.Optional(Type.String(needed)), ...CaptchaFields })
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
        body: Body,
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

export default signupUsername
