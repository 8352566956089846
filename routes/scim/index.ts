/** SCIM 2.0 (RFC 7644), for identity providers. Bodies and errors have the form of the protocol. */
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'

import type { ScimConnectionRow } from '../../db/scim/connections.ts'
import { authenticateScimClient } from '../../modules/scim/index.ts'
import { registerRoutes } from '../../plugins/register-routes.ts'
import { methodNotAllowed, scimDisabled, scimRejected } from '../../schemas/errors.ts'
import { adminBodyLimit } from '../../schemas/values/body-limits.ts'
import discovery from './v2/discovery.ts'
import group, { groupWrites } from './v2/group.ts'
import groups, { groupCreation } from './v2/groups.ts'
import { parseScimBody } from './v2/parse-body.ts'
import { scimMediaType, toScimError } from './v2/scim-error.ts'
import search from './v2/search.ts'
import unsupported from './v2/unsupported.ts'
import user, { userWrites } from './v2/user.ts'
import users, { userCreation } from './v2/users.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The connection of the token; null outside of SCIM. */
    scimConnection: ScimConnectionRow | null
  }
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
  await registerRoutes(app, { users, userCreation, user, userWrites })
  await registerRoutes(app, { groups, groupCreation, group, groupWrites })
  await registerRoutes(app, { search, unsupported })
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

/** The methods of the path, or an empty string. */
function listMethods(app: FastifyInstance, { raw }: FastifyRequest): string {
  const url = (raw.url ?? '/').split('?')[0] ?? '/'
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
  return methods.filter((method) => app.findRoute({ method, url }) !== null).join(', ')
}

const noSuchEndpoint = () => scimRejected(404, undefined, 'There is no such endpoint')

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

export default scim
