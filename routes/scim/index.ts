/** SCIM 2.0 (RFC 7644), for identity providers. Bodies and errors have the form of the protocol. */
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'

import type { ScimConnectionRow } from '../../db/scim/connections.ts'
import { authenticateScimClient } from '../../modules/scim/index.ts'
import { isPostgresValue } from '../../plugins/http/body-parser/storable.ts'
import { registerRoutes } from '../../plugins/register-routes.ts'
import {
  type ApiError,
  methodNotAllowed,
  scimDisabled,
  scimRejected,
} from '../../schemas/errors.ts'
import { adminBodyLimit } from '../../schemas/values/body-limits.ts'
import { isRecord } from '../../schemas/values/record.ts'
import discovery from './v2/discovery.ts'
import { groupRoutes } from './v2/groups.ts'
import search from './v2/search.ts'
import { userRoutes } from './v2/users.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The connection of the token; null outside of SCIM. */
    scimConnection: ScimConnectionRow | null
  }
}

const scimMediaType = 'application/scim+json; charset=utf-8'

const scim: FastifyPluginAsync = async (app) => {
  app.decorateRequest('scimConnection', null)
  if (app.config.AUTH_EXPERIMENTAL_SCIM_ENABLED) {
    await app.register(versionTwo, { prefix: '/scim/v2' })
    return
  }
  app.all('/scim/*', { schema: { hide: true } }, async () => {
    throw scimDisabled()
  })
}

const versionTwo: FastifyPluginAsync = async (app) => {
  const { apiErrors, rateLimits } = app
  // Before the token is looked up.
  app.addHook('onRequest', app.rateLimit(rateLimits.scim))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: adminBodyLimit }, parseScimBody)
  app.addHook('onRequest', async (_request, reply) => void reply.type(scimMediaType))
  app.setErrorHandler((thrown, request, reply) => {
    const { status, headers, body } = toScimError(apiErrors.report(request, thrown))
    return reply.status(status).headers(headers).type(scimMediaType).send(JSON.stringify(body))
  })
  app.setNotFoundHandler((request, reply) => {
    const allowed = listMethods(app, request)
    const fault = allowed ? methodNotAllowed(allowed) : noSuchEndpoint()
    const { status, body } = toScimError(fault)
    if (allowed) reply.header('allow', allowed)
    return reply.status(status).type(scimMediaType).send(JSON.stringify(body))
  })
  await registerRoutes(app, { discovery, guarded })
}

type ScimRequest = FastifyRequest<{ Params: { connection?: string } }>

/** Routes with a token, which is checked before the body is read. */
const guarded: FastifyPluginAsync = async (app) => {
  const { bearerAuth, db, openapi } = app
  app.addHook('onRoute', openapi.needsBearer)
  app.addHook('onRequest', async (request: ScimRequest) => {
    const { connection = '' } = request.params
    const { authorization } = request.headers
    const found = await authenticateScimClient(db, connection, authorization, new Date())
    request.scimConnection = found
    bearerAuth.identify({ actor: { type: 'scim', id: found.sso_provider_id } })
  })
  await registerRoutes(app, { ...userRoutes, ...groupRoutes, search, unsupported })
}

/** ServiceProviderConfig declares them as unsupported. */
const unsupported: FastifyPluginAsync = async (app) => {
  for (const name of ['Bulk', 'Me']) {
    app.all(`/:connection/${name}`, { schema: { hide: true } }, async () => {
      throw scimRejected(501, undefined, `${name} is not supported`)
    })
  }
}

/** The methods of the path, or an empty string. */
function listMethods(app: FastifyInstance, { raw }: FastifyRequest): string {
  const url = (raw.url ?? '/').split('?')[0] ?? '/'
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
  return methods.filter((method) => app.findRoute({ method, url }) !== null).join(', ')
}

const noSuchEndpoint = () => scimRejected(404, undefined, 'There is no such endpoint')

/** Names keep their case, and null is kept: both are significant in a resource. A route without a body ignores one. */
function parseScimBody(
  request: FastifyRequest,
  text: string | Buffer,
  done: (error: Error | null, body?: unknown) => void,
): void {
  const isRead = request.routeOptions.schema?.body !== undefined
  const body = isRead ? readObject(text.toString()) : undefined
  const fault = scimRejected(400, 'invalidSyntax', 'The body must be one JSON object')
  done(isRead && !body ? fault : null, body)
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return isRecord(body) && isPostgresValue(body) ? body : undefined
  } catch {
    return undefined
  }
}

const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'

/** The form of RFC 7644 §3.12. */
function toScimError(error: ApiError) {
  const { status, scimType } = toScimType(error)
  const { retryAfter } = error.details
  return {
    status,
    headers: {
      'cache-control': 'no-store',
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
    body: {
      schemas: [errorSchema],
      status: String(status),
      ...(scimType && { scimType }),
      detail: error.message,
    },
  }
}

/** SCIM clients expect a conflict or an invalid value, not 422. */
function toScimType({ status, errorCode, details }: ApiError): {
  status: number
  scimType?: string
} {
  if (errorCode === 'last_owner') return { status: 409, scimType: 'mutability' }
  const isInvalid = status === 422 || (status === 400 && errorCode === 'validation_failed')
  if (isInvalid) return { status: 400, scimType: 'invalidValue' }
  return details.scimType ? { status, scimType: details.scimType } : { status }
}

export default scim
