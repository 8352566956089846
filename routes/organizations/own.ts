/** Organizations of the current user. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listMemberships } from '../../db/organizations/organizations.ts'
import {
  activateOrganization,
  createOrganization,
  joinAutomatically,
  joinSuggested,
  listSuggestions,
  permitSuggestedJoin,
  readSlug,
  removeMember,
} from '../../modules/organizations/index.ts'
import { isImpersonated } from '../../schemas/access-token.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { organizationCreationDisabled } from '../../schemas/errors.ts'
import { readUuid } from '../../schemas/fields.ts'
import { readList, SearchQuery, toPage } from '../../schemas/organizations/list.ts'
import { Suggestions } from '../../schemas/organizations/member.ts'
import {
  checkOrganizationMetadata,
  Membership,
  Memberships,
  Organization,
  OrganizationInput,
  OrganizationPath,
  toMembership,
  toOrganization,
} from '../../schemas/organizations/organization.ts'
import { ownerRole } from '../../schemas/organizations/permissions.ts'
import { nullable } from '../../schemas/values/choices.ts'
import { NoBody } from '../../schemas/values/empty.ts'

const Query = Type.Object(SearchQuery)
const listSchema = {
  summary: 'List the organizations of the current user, last joined first',
  description: 'Users join organizations whose domain joins automatically by this request.',
  querystring: Query,
  response: { 200: Memberships, ...ErrorResponses },
}

const createSchema = {
  summary: 'Create an organization, of which the current user is the owner',
  body: OrganizationInput,
  response: { 201: Membership, ...ErrorResponses },
}

export const ownOrganizations: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, config, db } = app

  app.get(
    '/organizations',
    {
      config: { organizationPermission: 'none', rejectsImpersonation: false },
      schema: listSchema,
    },
    async (request) => {
      const { user, session, claims } = bearerAuth.getAuth(request)
      const { size, ...filter } = readList(request.query)
      if (!isImpersonated(claims)) {
        await joinAutomatically(app, user, { ip: request.clientIp, now: new Date() })
      }
      const of = { ...filter, sessionId: session?.session_id ?? null }
      const rows = await listMemberships(db, user.id, of, size)
      const { page, next } = toPage(rows, size, ({ id }) => id)
      return { organizations: page.map(toMembership), next }
    },
  )

  app.post(
    '/organizations',
    {
      config: { organizationPermission: 'none', rejectsImpersonation: true },
      schema: createSchema,
    },
    async (request, reply) => {
      if (!config.AUTH_ORGANIZATIONS_USER_CREATION_ENABLED) throw organizationCreationDisabled()
      const { name, slug, metadata } = request.body
      if (slug !== undefined) readSlug(slug)
      checkOrganizationMetadata(metadata)
      const auth = bearerAuth.getSessionAuth(request)
      const now = new Date()
      const created = await db.transaction().execute(async (trx) => {
        const { user } = await bearerAuth.reauthorizeSession(trx, auth, now)
        const member = { network: request.sendingNetwork }
        const by = { actor: user, ip: request.clientIp, member }
        const input = { name: name.trim(), slug, metadata }
        return createOrganization(app, trx, input, user.id, by, now)
      })
      const owner = { role: ownerRole, role_permissions: null, joined_by: 'creation' }
      const membership = { ...created, ...owner, joined_at: now, is_active: false }
      return reply.status(201).send(toMembership(membership))
    },
  )
}

const Id = nullable(Type.String({ format: 'uuid' }))
const Active = Type.Object({ organization_id: Id })
const ActiveOrganization = Type.Object({ organization_id: Type.Optional(Id) })

export const join: FastifyPluginAsyncTypebox = async (app) => {
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

export const leave: FastifyPluginAsyncTypebox = async (app) => {
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

export const activate: FastifyPluginAsyncTypebox = async (app) => {
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
