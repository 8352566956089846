import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { hasNextKey, metadataFor } from '../../modules/saml/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'

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

export default metadata
