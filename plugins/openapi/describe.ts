import Fastify, { type FastifySchema, type RouteOptions } from 'fastify'

import { ErrorResponses } from '../../schemas/error.ts'
import { version } from '../../version.ts'
import { addExamples } from './examples.ts'
import { hoistTitled, nameResponses } from './tidy.ts'
import { describeWebhooks } from './webhooks.ts'

export type OpenapiDocument = ReturnType<ReturnType<typeof Fastify>['swagger']>

const description = `User management and authentication next to Postgres.

Every error has the shape of **Error**; \`error_code\` is stable, the message is for people. With the
header \`X-Supabase-Api-Version: 2024-01-01\` the code itself stands in \`code\`. A browser that opens an
address (\`Accept: text/html\`) is shown a page in the place of the error.`

const info = {
  openapi: '3.1.0',
  info: {
    title: 'Postern',
    version,
    description,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'This server; everything also answers under /auth/v1' }],
  tags: [
    { name: 'auth', description: 'Signing up and in' },
    { name: 'external', description: 'Signing in with an account from elsewhere' },
    { name: 'user', description: 'What a signed-in person does' },
    { name: 'mfa', description: 'Second factors' },
    { name: 'admin', description: 'For tokens with an admin role' },
    { name: 'webhooks', description: 'Events, as endpoints are sent them (Standard Webhooks)' },
    { name: 'discovery', description: 'Keys and metadata for those who check tokens' },
    { name: 'operations', description: 'Settings and health' },
  ],
  components: {
    securitySchemes: {
      bearer: { type: 'http' as const, scheme: 'bearer', bearerFormat: 'JWT' },
    },
  },
}

/**
 * A server of its own that knows the routes' descriptions alone: the document needs neither a
 * database nor a running server, and its making does not lengthen every boot.
 */
export async function describe(
  routes: readonly RouteOptions[],
  needsBearer: (route: RouteOptions) => boolean,
): Promise<OpenapiDocument> {
  // Most servers are never asked.
  const { default: swagger } = await import('@fastify/swagger')
  const draft = Fastify({ exposeHeadRoutes: false })
  draft.setValidatorCompiler(() => () => true)
  draft.setSerializerCompiler(() => () => '')
  await draft.register(swagger, { openapi: info })
  for (const route of routes) {
    const { method, url } = route
    const schema = described(route.schema ?? {}, needsBearer(route))
    draft.route({ method, url, schema, handler: async () => undefined })
  }
  await draft.ready()
  const document = hoistTitled({ ...draft.swagger(), webhooks: describeWebhooks() })
  await draft.close()
  nameResponses(document)
  addExamples(document)
  return document
}

function described(schema: FastifySchema, isGuarded: boolean): FastifySchema {
  const response = typeof schema.response === 'object' ? schema.response : {}
  return {
    ...schema,
    ...(schema.querystring !== undefined && { querystring: withNames(schema.querystring) }),
    response: { ...ErrorResponses, ...response },
    ...(isGuarded && { security: [{ bearer: [] }] }),
  }
}

/** A query whose names are free is one parameter of style "form", whose name does not matter. */
function withNames(query: unknown): unknown {
  if (typeof query !== 'object' || query === null || 'properties' in query) return query
  return { type: 'object', properties: { parameters: query } }
}
