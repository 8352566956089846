import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import {
  activateOrganization,
  findJoinable,
  joinByDomain,
  permitJoinByDomain,
  removeMember,
} from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { Suggestions } from '../../../schemas/organizations/member.ts'
import {
  Organization,
  OrganizationPath,
  toOrganization,
} from '../../../schemas/organizations/organization.ts'
import { nullable } from '../../../schemas/values/choices.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const Id = nullable(Type.String({ format: 'uuid' }))
const Active = Type.Object({ organization_id: Id })

const join: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, organizations } = fastify

  fastify.get(
    '/organizations/suggestions',
    {
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'List organizations that the current user may join by the domain of their address',
        response: { 200: Suggestions, ...ErrorResponses },
      },
    },
    async (request) => {
      const found = await findJoinable(db, bearerAuth.getAuth(request).user)
      return { organizations: found ? [{ id: found.id, slug: found.slug, name: found.name }] : [] }
    },
  )

  fastify.post(
    '/organizations/:organization_id/join',
    {
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Join an organization by the domain of the confirmed address',
        params: OrganizationPath,
        response: { 200: Organization, ...ErrorResponses },
      },
    },
    async (request) => {
      const organizationId = readUuid('organization_id', request.params.organization_id)
      const auth = bearerAuth.getSessionAuth(request)
      const { clientIp: ip } = request
      await permitJoinByDomain(organizations, auth.user, organizationId, ip)
      const now = new Date()
      return db.transaction().execute(async (trx) => {
        const { user } = await bearerAuth.reauthorizeSession(trx, auth, now)
        const by = { actor: user, ip }
        return toOrganization(await joinByDomain(organizations, trx, user, organizationId, by, now))
      })
    },
  )
}

const leave: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, organizations } = fastify

  fastify.post(
    '/organizations/:organization_id/leave',
    {
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Leave an organization',
        params: OrganizationPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const organizationId = readUuid('organization_id', request.params.organization_id)
      const auth = bearerAuth.getSessionAuth(request)
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        const { user } = await bearerAuth.reauthorizeSession(trx, auth, now)
        const key = { organizationId, userId: user.id }
        const by = { actor: user, ip: request.clientIp }
        await removeMember(organizations, trx, key, by, now)
      })
      return reply.status(204).send(null)
    },
  )
}

const activate: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, organizations } = fastify

  fastify.put(
    '/user/sessions/current',
    {
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'Set the active organization of the current session',
        description:
          'Access tokens name it from the next refresh on. Null, or none, for no organization.',
        body: Type.Object({ organization_id: Type.Optional(Id) }),
        response: { 200: Active, ...ErrorResponses },
      },
    },
    async (request) => {
      const { organization_id = null } = request.body
      const auth = bearerAuth.getSessionAuth(request)
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        const { session, user } = await bearerAuth.reauthorizeSession(trx, auth, now)
        const by = { actor: user, ip: request.clientIp }
        await activateOrganization(organizations, trx, session, organization_id, by, now)
      })
      return { organization_id }
    },
  )
}

export { activate, join, leave }
