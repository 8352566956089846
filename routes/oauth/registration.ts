import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { adminActor, recordAudit } from '../../modules/audit/index.ts'
import {
  authenticateRegistration,
  type Client,
  deleteClient,
  lockAndGetClient,
  registerClient,
  replaceRegistration,
  requireRegistration,
  showRegistration,
} from '../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { invalidClientMetadata } from '../../schemas/errors.ts'
import { ClientRegistration, OauthClient, OauthClientPath } from '../../schemas/oauth/client.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const managed = { tags: ['oauth'], params: OauthClientPath }

const response = { 200: OauthClient, ...ErrorResponses }

const registerSchema = {
  summary: 'Client registration endpoint (RFC 7591)',
  tags: ['oauth'],
  body: ClientRegistration,
  response: { 201: OauthClient, ...ErrorResponses },
}

const readSchema = { ...managed, summary: 'Read a client registration (RFC 7592)', response }

const updateSchema = {
  ...managed,
  summary: 'Update a client registration (RFC 7592)',
  body: ClientRegistration,
  response,
}

const deleteSchema = {
  ...managed,
  summary: 'Delete a client registration and revoke its sessions (RFC 7592)',
  response: { 204: NoBody, ...ErrorResponses },
}

const register: FastifyPluginAsyncTypebox = async (app) => {
  const { db, rateLimits } = app
  const path = '/oauth/clients/register'
  const policy = { rateLimit: rateLimits.oauthRegister }

  app.post(
    path,
    {
      config: policy,
      attachValidation: true,
      onRequest: async () => requireRegistration(app),
      schema: registerSchema,
    },
    async (request, reply) => {
      const created = await create(app, request)
      reply.status(201)
      return showRegistration(app, created.client, created)
    },
  )

  app.get(`${path}/:client_id`, { config: policy, schema: readSchema }, async (request) =>
    showRegistration(app, await authenticate(app, request)),
  )

  app.put(
    `${path}/:client_id`,
    { config: policy, attachValidation: true, schema: updateSchema },
    async (request) => {
      const now = new Date()
      const client = await authenticate(app, request)
      checkShape(request)
      return db.transaction().execute(async (trx) => {
        const before = await lockAndGetClient(trx, client.id)
        const after = await replaceRegistration(app, trx, before, request.body, now)
        await record(app, trx, 'oauth_client_updated', after, request, now)
        return showRegistration(app, after)
      })
    },
  )

  app.delete(
    `${path}/:client_id`,
    { config: policy, schema: deleteSchema },
    async (request, reply) => {
      await unregister(app, request, await authenticate(app, request))
      return reply.status(204).send(null)
    },
  )
}

async function create(app: FastifyInstance, request: FastifyRequest<{ Body: ClientRegistration }>) {
  const now = new Date()
  checkShape(request)
  return app.db.transaction().execute(async (trx) => {
    const made = await registerClient(app, trx, request.body, now)
    actAs(app, made.client)
    if (!made.isKnown) {
      await record(app, trx, 'oauth_client_registered', made.client, request, now)
    }
    return made
  })
}

async function unregister(
  app: FastifyInstance,
  request: FastifyRequest,
  client: Client,
): Promise<void> {
  const { db } = app
  const now = new Date()
  await db.transaction().execute(async (trx) => {
    await deleteClient(app, trx, client, now)
    await record(app, trx, 'oauth_client_deleted', client, request, now)
  })
}

async function authenticate(
  app: FastifyInstance,
  { params, headers }: FastifyRequest<{ Params: { client_id: string } }>,
): Promise<Client> {
  const client = await authenticateRegistration(app, params.client_id, headers.authorization)
  actAs(app, client)
  return client
}

/** The client itself is the actor. */
const actAs = ({ bearerAuth }: FastifyInstance, { id }: Client) =>
  bearerAuth.identify({ actor: { type: 'client', id } })

function record(
  { audit }: FastifyInstance,
  trx: Parameters<typeof registerClient>[1],
  action: 'oauth_client_registered' | 'oauth_client_updated' | 'oauth_client_deleted',
  client: Client,
  { clientIp: ip }: FastifyRequest,
  now: Date,
): Promise<void> {
  const traits = { client_id: client.id, client_name: client.name ?? '' }
  const actor = adminActor('oauth_client')
  return recordAudit(audit, trx, action, actor, { ip, now, traits })
}

/** RFC 7591 §3.2.2: a wrong type has the same error form as a wrong value. */
function checkShape({ validationError }: FastifyRequest): void {
  if (validationError) {
    throw invalidClientMetadata('invalid_client_metadata', validationError.message)
  }
}

export default register
