/** The API reference and the documentation. Their packages are loaded here only; production does not need them. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { FastifyInstance, FastifyPluginAsync } from 'fastify'

/** Its styles are inline; nothing is loaded from other servers. */
const contentSecurityPolicy =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"

/** The interactive API reference. */
export async function docs(app: FastifyInstance) {
  const { default: swagger } = await import('@fastify/swagger')
  const { default: swaggerUi } = await import('@fastify/swagger-ui')
  let document: Awaited<ReturnType<typeof app.openapi.document>>
  app.addHook('onReady', async () => {
    document = await app.openapi.document()
  })
  // Required by the UI package, although the page shows /openapi.json.
  await app.register(swagger, { openapi: { openapi: '3.1.0' } })
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: contentSecurityPolicy,
    transformSpecification: () => document,
    transformSpecificationClone: false,
    uiConfig: {
      layout: 'BaseLayout',
      defaultModelsExpandDepth: 0,
      persistAuthorization: true,
      plugins: [plainPaths],
    },
    theme: {
      title: 'Postern API',
      css: [{ filename: 'docs.css', content: await asset('docs.css') }],
      js: [{ filename: 'docs.js', content: await asset('docs.js') }],
    },
  })
}

/** Runs in the page: a link inside a button is not accessible. */
function plainPaths() {
  return {
    wrapComponents: {
      DeepLink:
        () =>
        ({ text }: { text: unknown }) =>
          text,
    },
  }
}

function asset(name: string): Promise<string> {
  return readFile(new URL(`assets/${name}`, import.meta.url), 'utf8')
}

const guideFolder = join(import.meta.dirname, '../../docs/dist')

/** The documentation as built by `npm run docs:build`, which `npm run dev` runs when it starts (dev/docs/build.ts). */
export const guide: FastifyPluginAsync = async (app) => {
  const { default: fastifyStatic } = await import('@fastify/static')
  // A page is the index of its folder, found with and without a slash at the end.
  await app.register(fastifyStatic, { root: guideFolder, prefix: '/docs/guide/', redirect: false })
  app.get('/docs/guide', { schema: { hide: true } }, (_request, reply) =>
    reply.sendFile('index.html'),
  )
}
