import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { nilUuid } from '../../db/tables/users.ts'
import { readPkce } from '../../modules/flows/index.ts'
import { startSignOn } from '../../modules/saml/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { badJson, validationFailed } from '../../schemas/errors.ts'
import { CaptchaFields, isUuid, PkceFields } from '../../schemas/fields.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const Body = Type.Object({
  provider_id: Type.Optional(Type.String({ description: 'Either this or domain' })),
  domain: Type.Optional(Type.String({ description: 'Of the email address, in any case' })),
  redirect_to: Type.Optional(Type.String({ maxLength: 8192 })),
  skip_http_redirect: Type.Optional(
    Type.Boolean({ description: 'Returns the URL instead of redirecting' }),
  ),
  ...PkceFields,
  ...CaptchaFields,
})

const Url = Type.Object({ url: Type.String({ description: 'Of the identity provider' }) })

const sso: FastifyPluginAsyncTypebox = async (app) => {
  const { captcha, rateLimits } = app

  app.post(
    '/sso',
    {
      preValidation: captcha.requireCaptcha,
      config: { rateLimit: rateLimits.sso },
      schema: {
        summary: 'Sign in with a SAML identity provider',
        tags: ['sso'],
        body: Body,
        response: { 200: Url, 303: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { body } = request
      const requested = { ...readNames(body), redirectTo: body.redirect_to }
      const pkce = readPkce(body)
      const url = await startSignOn(app, { ...requested, pkce }, new Date())
      if (body.skip_http_redirect) return { url }
      return reply.redirect(url, 303)
    },
  )
}

/** Throws validation_failed unless exactly one is given. */
function readNames({ provider_id, domain }: Static<typeof Body>) {
  const providerId = provider_id === nilUuid ? undefined : provider_id || undefined
  if (providerId !== undefined && !isUuid(providerId)) throw badJson('provider_id must be a UUID')
  if (Boolean(providerId) === Boolean(domain)) {
    throw validationFailed('Send either provider_id or domain')
  }
  return { providerId, domain: domain || undefined }
}

export default sso
