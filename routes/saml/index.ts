/** SAML 2.0 single sign-on: for browsers and identity providers, without a token. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'

import { hasNextKey, metadataFor } from '../../modules/saml/index.ts'
import { registerRoutes } from '../../plugins/register-routes.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { samlProviderDisabled } from '../../schemas/errors.ts'
import { signOnRoutes } from './sign-on.ts'
import slo from './slo.ts'

const saml: FastifyPluginAsync = async (app) => {
  if (app.config.AUTH_SAML_ENABLED) {
    return registerRoutes(app, { metadata, ...signOnRoutes, slo })
  }
  for (const path of ['/sso', '/sso/*']) {
    app.all(path, { schema: { hide: true } }, async () => {
      throw samlProviderDisabled()
    })
  }
}

const Query = Type.Object({
  download: Type.Optional(
    Type.String({ description: 'If true, a file that is valid for five years' }),
  ),
})

const Xml = { content: { 'application/xml': { schema: Type.String() } } }

const metadata: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/sso/saml/metadata',
    {
      schema: {
        summary: 'Service provider metadata (SAML 2.0)',
        tags: ['sso'],
        querystring: Query,
        response: { 200: Xml, ...ErrorResponses },
      },
    },
    async ({ query }, reply) => {
      const isDownload = query.download === 'true'
      const seconds = hasNextKey(app) ? 60 : 600
      reply.header('cache-control', `public, max-age=${seconds}`)
      if (isDownload) reply.header('content-disposition', 'attachment; filename="metadata.xml"')
      const xml = metadataFor(app, { isDownload }, new Date())
      return reply.type('application/xml').serializer(String).send(xml)
    },
  )
}

export default saml
