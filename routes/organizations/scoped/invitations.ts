import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listInvitations } from '../../../db/organizations/invitations.ts'
import { resolveTarget } from '../../../modules/flows/index.ts'
import {
  checkGrant,
  createInvitation,
  revokeInvitation,
} from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { normalizeEmail, readUuid } from '../../../schemas/fields.ts'
import { OrganizationListQuery, readList, toPage } from '../../../schemas/organizations/list.ts'
import {
  Invitation,
  Invitations,
  RoleField,
  toInvitation,
} from '../../../schemas/organizations/member.ts'
import { OrganizationPath } from '../../../schemas/organizations/organization.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { applyOrganizationChange } from './change.ts'

const Query = Type.Object(OrganizationListQuery)
const Path = Type.Composite([OrganizationPath, Type.Object({ invitation_id: Type.String() })])

const Body = Type.Object({
  email: Type.String(),
  role: Type.Optional(RoleField),
  redirect_to: Type.Optional(
    Type.String({
      description:
        'The page that the email leads to, with `organization_invitation` in the fragment',
    }),
  ),
})

const sendInvitations: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db, rateLimits } = app

  app.get(
    '/invitations',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'invitations:read',
        rejectsImpersonation: false,
      },
      schema: {
        summary: 'List the open invitations of an organization, newest first',
        params: OrganizationPath,
        querystring: Query,
        response: { 200: Invitations, ...ErrorResponses },
      },
    },
    async (request) => {
      const { size, after } = readList(request.query)
      const { id } = bearerAuth.getOrganization(request)
      const rows = await listInvitations(db, id, { now: new Date(), after }, size)
      const { page, next } = toPage(rows, size, (row) => row.id)
      return { invitations: page.map(toInvitation), next }
    },
  )

  app.post(
    '/invitations',
    {
      config: {
        minimumRole: 'operator',
        givesAccess: true,
        organizationPermission: 'invitations:write',
        rateLimit: rateLimits.otp,
      },
      schema: {
        summary: 'Invite an address to an organization',
        description: 'An earlier invitation of the address is revoked.',
        params: OrganizationPath,
        body: Body,
        response: { 201: Invitation, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { role = 'member', redirect_to: requestedTarget } = request.body
      const email = normalizeEmail(request.body.email)
      const redirectTo = resolveTarget(app, request, requestedTarget)
      const { audience: aud, auth } = request
      const invitation = await applyOrganizationChange(app, request, async (change) => {
        const { trx, id: organizationId, permissions, by, now } = change
        await checkGrant(trx, organizationId, role, permissions)
        const invitedBy = auth?.user ?? null
        const input = { organizationId, email, role, redirectTo, aud, invitedBy }
        return createInvitation(app, trx, input, by, now)
      })
      return reply.status(201).send(toInvitation(invitation))
    },
  )
}

const revokeInvitations: FastifyPluginAsyncTypebox = async (app) => {
  app.delete(
    '/invitations/:invitation_id',
    {
      config: { minimumRole: 'operator', organizationPermission: 'invitations:write' },
      schema: {
        summary: 'Revoke an invitation',
        params: Path,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const invitationId = readUuid('invitation_id', request.params.invitation_id)
      await applyOrganizationChange(app, request, ({ trx, id, by, now }) =>
        revokeInvitation(app, trx, id, invitationId, by, now),
      )
      return reply.status(204).send(null)
    },
  )
}

export { revokeInvitations, sendInvitations }
