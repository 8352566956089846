import { STATUS_CODES } from 'node:http'

import Fastify, { type FastifySchema, type RouteOptions } from 'fastify'

import { ErrorResponses } from '../../../schemas/error.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { version } from '../../../version.ts'
import { applyMarks } from './documented-fields.ts'
import { addExamples } from './examples.ts'
import { addResponseExamples } from './response-examples.ts'
import { describeWebhooks } from './webhooks.ts'

// Completes the output of @fastify/swagger: shared schemas under components, and named responses.

type Json = { [key: string]: unknown }

const failures: Record<string, string> = {
  '4XX': 'The request is rejected',
  '5XX': 'The server cannot handle the request',
}

/** Moves every titled schema to components and replaces it with a reference. */
function hoistTitled<T extends object>(document: T): T {
  const schemas: Json = {}
  const paths = 'paths' in document ? replaceTitled(document.paths, schemas) : {}
  const webhooks = 'webhooks' in document ? replaceTitled(document.webhooks, schemas) : {}
  const components = 'components' in document ? document.components : {}
  return { ...document, paths, webhooks, components: { ...Object(components), schemas } }
}

function replaceTitled(node: unknown, schemas: Json): unknown {
  if (Array.isArray(node)) return node.map((entry) => replaceTitled(entry, schemas))
  if (!isRecord(node)) return node
  const copy = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, replaceTitled(value, schemas)]),
  )
  const { title } = copy
  if (typeof title !== 'string' || !('type' in copy || 'anyOf' in copy)) return copy
  const known = schemas[title]
  // Two different schemas with the same title: the second stays inline.
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(copy)) return copy
  schemas[title] = copy
  return { $ref: `#/components/schemas/${title}` }
}

/** Replaces "Default Response"; operations that only redirect get a response for other statuses. */
function nameResponses(document: { paths?: object }): void {
  const methods = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path))
  for (const method of methods.filter(isRecord)) {
    for (const [status, response] of Object.entries(method.responses ?? {})) {
      if (!isRecord(response) || response.description !== 'Default Response') continue
      response.description = failures[status] ?? STATUS_CODES[status] ?? status
    }
    addDefault(method)
  }
}

/** Generators expect a 2XX or a `default` response. */
function addDefault({ responses }: Json): void {
  if (!isRecord(responses)) return
  const hasSuccess = Object.keys(responses).some((status) => status.startsWith('2'))
  const rejected = responses['4XX']
  if (hasSuccess || !isRecord(rejected)) return
  responses.default = { ...rejected, description: 'Any other response' }
}

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
    { name: 'sso', description: 'Single sign-on with SAML 2.0' },
    { name: 'user', description: 'The current user' },
    { name: 'mfa', description: 'Second factors' },
    { name: 'organizations', description: 'Organizations: members, roles and joining' },
    {
      name: 'oauth',
      description: 'The OAuth 2.1 and OpenID Connect server for other applications',
    },
    {
      name: 'scim',
      description: 'SCIM 2.0 for identity providers: requires a token of the connection',
    },
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

/** RFC 7644 §3.1. */
const scimMedia = ['application/scim+json']

function described(schema: FastifySchema, isGuarded: boolean): FastifySchema {
  const response = typeof schema.response === 'object' ? schema.response : {}
  const { documented, ...rest } = schema
  return {
    ...rest,
    ...documented,
    ...(rest.tags?.includes('scim') && { consumes: scimMedia, produces: scimMedia }),
    response: { ...ErrorResponses, ...response },
    security: isGuarded ? [{ bearer: [] }] : [],
  }
}

// Operation ids for generated clients.

/**
 * Sets each operation's id from its method and path, in place. Of two paths that differ only by a hyphen, the second is
 * an alias for clients that spell it that way.
 */
function nameOperations(document: { paths?: object; webhooks?: object }): void {
  const taken = new Set<string>()
  for (const [path, methods] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(methods)) {
      if (!isRecord(operation)) continue
      const name = operationId(method, path)
      operation.operationId = taken.has(name) ? `${name}Alias` : name
      taken.add(name)
    }
  }
  for (const [event, { post }] of Object.entries(document.webhooks ?? {})) {
    post.operationId = toCamelCase(['on', event])
  }
}

/** `get /admin/users/{user_id}/sessions` is getAdminUserSessions. */
function operationId(method: string, path: string): string {
  const segments = path.split('/').filter(Boolean)
  const words = segments.flatMap((segment, index) => {
    if (segment.startsWith('{')) return []
    // Singular when an id follows.
    return segments[index + 1]?.startsWith('{')
      ? segment.replace(/ies$/, 'y').replace(/s$/, '')
      : segment
  })
  return toCamelCase([method, ...words])
}

function toCamelCase(words: readonly string[]): string {
  const parts = words.flatMap((word) => word.split(/[^A-Za-z0-9]+/)).filter(Boolean)
  const [first = '', ...rest] = parts
  return first + rest.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('')
}
