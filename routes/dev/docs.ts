/** The API reference to read and to try. Its packages are loaded by this: production does without them. */
import type { FastifyInstance } from 'fastify'

/** Its styles are inline; nothing comes from anywhere else. */
const contentSecurityPolicy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"

async function docs(fastify: FastifyInstance) {
  const { default: swagger } = await import('@fastify/swagger')
  const { default: swaggerUi } = await import('@fastify/swagger-ui')
  let document: Awaited<ReturnType<typeof fastify.openapi.document>>
  fastify.addHook('onReady', async () => {
    document = await fastify.openapi.document()
  })
  // The page's package insists on it, though the document it shows is the one of /openapi.json.
  await fastify.register(swagger, { openapi: { openapi: '3.1.0' } })
  await fastify.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy,
    transformSpecification: () => document,
    transformSpecificationClone: false,
    uiConfig: { layout: 'BaseLayout', defaultModelsExpandDepth: 0, persistAuthorization: true },
    theme: { title: 'Postern API' },
  })
}

export default docs
