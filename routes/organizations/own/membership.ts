import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import {
  activateOrganization,
  joinSuggested,
  listSuggestions,
  permitSuggestedJoin,
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
const ActiveOrganization = Type.Object({ organization_id: Type.Optional(Id) })

const join: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    '/organizations/suggestions',
    {
      config: { organizationPermission: 'none', rejectsImpersonation: false },
      schema: {
        summary: 'List organizations that the current user may join',
        description:
          'By the domain of their confirmed address, or because a SCIM client provisioned them.',
        response: { 200: Suggestions, ...ErrorResponses },
      },
    },
    async (request) => {
      const suggestions = await listSuggestions(app, bearerAuth.getAuth(request).user)
      const found = suggestions.map(({ organization: { id, slug, name } }) => ({ id, slug, name }))
      return { organizations: found }
    },
  )

  app.post(
    '/organizations/:organization_id/join',
    {
      config: { organizationPermission: 'none', rejectsImpersonation: true },
      schema: {
        summary: 'Join an organization that GET /organizations/suggestions lists',
        params: OrganizationPath,
        response: { 200: Organization, ...ErrorResponses },
      },
    },
    async (request) => {
      const organizationId = readUuid('organization_id', request.params.organization_id)
      const auth = bearerAuth.getSessionAuth(request)
      const { clientIp: ip } = request
      await permitSuggestedJoin(app, auth.user, organizationId, ip)
      const now = new Date()
      return db.transaction().execute(async (trx) => {
        const { user } = await bearerAuth.reauthorizeSession(trx, auth, now)
        const by = { actor: user, ip }
        return toOrganization(await joinSuggested(app, trx, user, organizationId, by, now))
      })
    },
  )
}

const leave: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.post(
    '/organizations/:organization_id/leave',
    {
      config: { organizationPermission: 'none', rejectsImpersonation: true },
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
        await removeMember(app, trx, key, by, now)
      })
      return reply.status(204).send(null)
    },
  )
}

const activate: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.put(
    '/user/sessions/current',
    {
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'Set the active organization of the current session',
        description:
          'Access tokens name it from the next refresh on. Null, or none, for no organization.',
        body: ActiveOrganization,
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
        await activateOrganization(app, trx, session, organization_id, by, now)
      })
      return { organization_id }
    },
  )
}

export { activate, join, leave }
