import Fastify, { type FastifySchema, type RouteOptions } from 'fastify'

import { ErrorResponses } from '../../../schemas/error.ts'
import { version } from '../../../version.ts'
import { applyMarks } from './documented-fields.ts'
import { addExamples } from './examples.ts'
import { nameOperations } from './operation-ids.ts'
import { addResponseExamples } from './response-examples.ts'
import { hoistTitled, nameResponses } from './tidy.ts'
import { describeWebhooks } from './webhooks.ts'

export type OpenapiDocument = ReturnType<ReturnType<typeof Fastify>['swagger']>

const description = `User management and authentication next to Postgres.

Every error has the schema **Error**. Its \`error_code\` is stable; the message is for developers. With
the header \`X-Supabase-Api-Version: 2024-01-01\` the code is in \`code\`. A browser that opens a URL
(\`Accept: text/html\`) gets an HTML page instead of the error.`

const info = {
  openapi: '3.1.0',
  info: {
    title: 'Postern',
    version,
    description,
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'This server; all paths are also available under /auth/v1' }],
  tags: [
    { name: 'auth', description: 'Sign-up and sign-in' },
    { name: 'external', description: 'External sign-in with OAuth, OpenID Connect and SAML' },
    { name: 'user', description: 'The current user' },
    { name: 'mfa', description: 'Second factors' },
    { name: 'organizations', description: 'Organizations: members, roles and joining' },
    { name: 'admin', description: 'Admin API: requires a token with an admin role' },
    { name: 'console', description: 'Tokens of the admin console' },
    {
      name: 'webhooks',
      description: 'Events that the server sends to webhook endpoints (Standard Webhooks)',
    },
    { name: 'discovery', description: 'Keys and metadata for token verification' },
    { name: 'operations', description: 'Settings and health' },
  ],
  components: {
    securitySchemes: {
      bearer: { type: 'http' as const, scheme: 'bearer', bearerFormat: 'JWT' },
    },
  },
}

/**
 * A separate instance that knows only the route schemas: generating the document needs no database or running server,
 * and does not slow every boot.
 */
export async function describeOpenApi(
  routes: readonly RouteOptions[],
  needsBearer: (route: RouteOptions) => boolean,
): Promise<OpenapiDocument> {
  // Loaded on demand; most servers never serve the document.
  const { default: swagger } = await import('@fastify/swagger')
  const draft = Fastify({ exposeHeadRoutes: false })
  draft.setValidatorCompiler(() => () => true)
  draft.setSerializerCompiler(() => () => '')
  await draft.register(swagger, { openapi: info })
  for (const route of routes.filter(isOfApi)) {
    const { method, url } = route
    const schema = described(route.schema ?? {}, needsBearer(route))
    draft.route({ method, url, schema, handler: async () => undefined })
  }
  await draft.ready()
  const drafted = { ...draft.swagger(), webhooks: describeWebhooks() }
  await draft.close()
  applyMarks(drafted)
  const document = hoistTitled(drafted)
  nameOperations(document)
  nameResponses(document)
  addExamples(document)
  addResponseExamples(document)
  return document
}

/** Pages are for browsers; the document describes the endpoints behind them. */
const isOfApi = ({ schema }: RouteOptions): boolean => !schema?.tags?.includes('pages')

function described(schema: FastifySchema, isGuarded: boolean): FastifySchema {
  const response = typeof schema.response === 'object' ? schema.response : {}
  const { documented, ...rest } = schema
  return {
    ...rest,
    ...documented,
    response: { ...ErrorResponses, ...response },
    security: isGuarded ? [{ bearer: [] }] : [],
  }
}
