/** The OpenAPI 3.1 document, made from the schemas that validate and serialize. */
import { Type } from '@sinclair/typebox'
import type { RouteOptions } from 'fastify'

import { definePlugin } from './define-plugin.ts'
import { describe, type OpenapiDocument } from './openapi/describe.ts'

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

    /** An onRoute hook for groups of routes that have a guard: the document says that they ask for a token. */
    needsBearer: (route: RouteOptions): void => void guarded.add(route),

    /** Made when somebody first asks for it. Complete once every route is registered. */
    document(): Promise<OpenapiDocument> {
      document ??= describe(routes, (route) => guarded.has(route))
      return document
    },
  }
}

const Document = Type.Object({}, { additionalProperties: true })

export default definePlugin({
  name: 'openapi',
  needs: ['addHook', 'get'],
  create(house) {
    const openapi = createOpenapi()
    house.addHook('onRoute', (route) => void openapi.routes.push(route))
    house.get(
      '/openapi.json',
      {
        schema: {
          summary: 'This document',
          tags: ['operations'],
          response: { 200: Document },
        },
      },
      async () => openapi.document(),
    )
    return openapi
  },
})
