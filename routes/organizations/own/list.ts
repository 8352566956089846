import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listMemberships } from '../../../db/organizations/organizations.ts'
import {
  createOrganization,
  joinAutomatically,
  readSlug,
} from '../../../modules/organizations/index.ts'
import { isImpersonated } from '../../../schemas/access-token.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { organizationCreationDisabled } from '../../../schemas/errors.ts'
import { readList, SearchQuery, toPage } from '../../../schemas/organizations/list.ts'
import {
  checkOrganizationMetadata,
  Membership,
  Memberships,
  OrganizationInput,
  toMembership,
} from '../../../schemas/organizations/organization.ts'
import { ownerRole } from '../../../schemas/organizations/permissions.ts'

const Query = Type.Object(SearchQuery)
const list: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, config, db } = app

  app.get(
    '/organizations',
    {
      config: { organizationPermission: 'none', rejectsImpersonation: false },
      schema: {
        summary: 'List the organizations of the current user, last joined first',
        description: 'Users join organizations whose domain joins automatically by this request.',
        querystring: Query,
        response: { 200: Memberships, ...ErrorResponses },
      },
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
      schema: {
        summary: 'Create an organization, of which the current user is the owner',
        body: OrganizationInput,
        response: { 201: Membership, ...ErrorResponses },
      },
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

export default list
