import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { adminActor, recordAudit } from '../../../modules/audit/index.ts'
import {
  authenticateRegistration,
  type Client,
  deleteClient,
  lockAndGetClient,
  registerClient,
  replaceRegistration,
  requireRegistration,
  showRegistration,
} from '../../../modules/oauth-server/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { invalidClientMetadata } from '../../../schemas/errors.ts'
import { ClientRegistration, OauthClient, OauthClientPath } from '../../../schemas/oauth/client.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

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

const register: FastifyPluginAsyncTypebox = async (fastify) => {
  const { config, db, jwt, rateLimits } = fastify
  const path = '/oauth/clients/register'
  const policy = { rateLimit: rateLimits.oauthRegister }

  fastify.post(
    path,
    {
      config: policy,
      attachValidation: true,
      onRequest: async () => requireRegistration({ config }),
      schema: registerSchema,
    },
    async (request, reply) => {
      const now = new Date()
      checkShape(request)
      const created = await db.transaction().execute(async (trx) => {
        const made = await registerClient({ config, jwt }, trx, request.body, now)
        await record(fastify, trx, 'oauth_client_registered', made.client, request, now)
        return made
      })
      reply.status(201)
      return showRegistration({ config }, created.client, created)
    },
  )

  fastify.get(`${path}/:client_id`, { config: policy, schema: readSchema }, async (request) =>
    showRegistration({ config }, await authenticate(fastify, request)),
  )

  fastify.put(
    `${path}/:client_id`,
    { config: policy, attachValidation: true, schema: updateSchema },
    async (request) => {
      const now = new Date()
      const client = await authenticate(fastify, request)
      checkShape(request)
      return db.transaction().execute(async (trx) => {
        const before = await lockAndGetClient(trx, client.id)
        const after = await replaceRegistration({ config, jwt }, trx, before, request.body, now)
        await record(fastify, trx, 'oauth_client_updated', after, request, now)
        return showRegistration({ config }, after)
      })
    },
  )

  fastify.delete(
    `${path}/:client_id`,
    { config: policy, schema: deleteSchema },
    async (request, reply) => {
      await unregister(fastify, request, await authenticate(fastify, request))
      return reply.status(204).send(null)
    },
  )
}

async function unregister(
  fastify: FastifyInstance,
  request: FastifyRequest,
  client: Client,
): Promise<void> {
  const { db, events } = fastify
  const now = new Date()
  await db.transaction().execute(async (trx) => {
    await deleteClient({ events }, trx, client, now)
    await record(fastify, trx, 'oauth_client_deleted', client, request, now)
  })
}

function authenticate(
  { db }: FastifyInstance,
  request: FastifyRequest<{ Params: { client_id: string } }>,
): Promise<Client> {
  return authenticateRegistration({ db }, request.params.client_id, request.headers.authorization)
}

/** The client itself is the actor. */
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
