/** The OpenAPI 3.1 document, made from the schemas that validate and serialize. */
import { Type } from '@sinclair/typebox'
import type { FastifyInstance, RouteOptions } from 'fastify'
import fp from 'fastify-plugin'

import { describe, type OpenapiDocument } from './openapi/describe.ts'

declare module 'fastify' {
  interface FastifyInstance {
    openapi: ReturnType<typeof createOpenapi>
  }
}

/** `needsBearer` tells which routes ask for a token. */
export function createOpenapi(needsBearer: (route: RouteOptions) => boolean) {
  const routes: RouteOptions[] = []
  let document: Promise<OpenapiDocument> | undefined

  return {
    routes,

    /** Made when somebody first asks for it. Complete once every route is registered. */
    document(): Promise<OpenapiDocument> {
      document ??= describe(routes, needsBearer)
      return document
    },
  }
}

const Document = Type.Object({}, { additionalProperties: true })

async function openapi(fastify: FastifyInstance) {
  const document = createOpenapi(({ onRequest, preHandler }) => {
    const { requireAdmin, requireInviter, requireUser } = fastify
    return [onRequest, preHandler]
      .flat()
      .some((hook) => hook === requireUser || hook === requireAdmin || hook === requireInviter)
  })
  fastify.decorate('openapi', document)
  fastify.addHook('onRoute', (route) => void document.routes.push(route))
  fastify.get(
    '/openapi.json',
    {
      schema: {
        summary: 'This document',
        tags: ['operations'],
        response: { 200: Document },
      },
    },
    async () => document.document(),
  )
}

export default fp(openapi, { name: 'openapi', fastify: '5.x' })
