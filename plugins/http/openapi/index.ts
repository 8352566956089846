/** The OpenAPI 3.1 document, generated from the schemas that validate and serialize. */
import { Type } from '@sinclair/typebox'
import type { RouteOptions } from 'fastify'

import { definePlugin } from '../../define-plugin.ts'
import { describeOpenApi, type OpenapiDocument } from './describe.ts'

declare module 'fastify' {
  interface FastifyInstance {
    openapi: ReturnType<typeof createOpenapi>
  }
}

function createOpenapi() {
  const routes: RouteOptions[] = []
  const guarded = new Set<RouteOptions>()
  let document: Promise<OpenapiDocument> | undefined

  return {
    routes,

    /** An onRoute hook for guarded route groups: the document marks them as requiring a bearer token. */
    needsBearer: (route: RouteOptions): void => void guarded.add(route),

    /** Generated at the first request. Complete once every route is registered. */
    document(): Promise<OpenapiDocument> {
      document ??= describeOpenApi(routes, (route) => guarded.has(route))
      return document
    },
  }
}

const Document = Type.Object({}, { additionalProperties: true })

export default definePlugin({
  name: 'openapi',
  deps: ['addHook', 'get'],
  create(deps) {
    const openapi = createOpenapi()
    deps.addHook('onRoute', (route) => void openapi.routes.push(route))
    deps.get(
      '/openapi.json',
      {
        schema: {
          summary: 'Get this OpenAPI document',
          tags: ['operations'],
          response: { 200: Document },
        },
      },
      async () => openapi.document(),
    )
    return openapi
  },
})
