/** Invitations: those of an organization, and those to the current user. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import { listInvitations, listInvitationsTo } from '../../db/organizations/invitations.ts'
import { findProvenAddress } from '../../modules/access/index.ts'
import { resolveTarget } from '../../modules/flows/index.ts'
import {
  acceptOrganizationInvitation,
  checkGrant,
  createInvitation,
  declineInvitation,
  type InvitationClaim,
  permitAcceptance,
  revokeInvitation,
} from '../../modules/organizations/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { normalizeEmail, readUuid } from '../../schemas/fields.ts'
import { OrganizationListQuery, readList, toPage } from '../../schemas/organizations/list.ts'
import {
  Invitation,
  Invitations,
  ReceivedInvitations,
  RoleField,
  toInvitation,
  toReceivedInvitation,
} from '../../schemas/organizations/member.ts'
import {
  Organization,
  OrganizationPath,
  toOrganization,
} from '../../schemas/organizations/organization.ts'
import { NoBody } from '../../schemas/values/empty.ts'
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

const listSchema = {
  summary: 'List the open invitations of an organization, newest first',
  params: OrganizationPath,
  querystring: Query,
  response: { 200: Invitations, ...ErrorResponses },
}

const inviteSchema = {
  summary: 'Invite an address to an organization',
  description: 'An earlier invitation of the address is revoked.',
  params: OrganizationPath,
  body: Body,
  response: { 201: Invitation, ...ErrorResponses },
}

export const sendInvitations: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db, rateLimits } = app

  app.get(
    '/invitations',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'invitations:read',
        rejectsImpersonation: false,
      },
      schema: listSchema,
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
      schema: inviteSchema,
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

export const revokeInvitations: FastifyPluginAsyncTypebox = async (app) => {
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

const Token = Type.Object({ token: Type.String({ maxLength: 100 }) })
const ReceivedPath = Type.Object({ invitation_id: Type.String() })

export const readInvitations: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const path = '/organizations/invitations'

  app.get(
    path,
    {
      config: { organizationPermission: 'none', rejectsImpersonation: false },
      schema: {
        summary: 'List the invitations to the confirmed address of the current user',
        response: { 200: ReceivedInvitations, ...ErrorResponses },
      },
    },
    async (request) => {
      const email = await findProvenAddress(db, bearerAuth.getAuth(request).user)
      const rows = email ? await listInvitationsTo(db, email, new Date()) : []
      return { invitations: rows.map(toReceivedInvitation) }
    },
  )
}

export const acceptInvitations: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db, rateLimits } = app
  const path = '/organizations/invitations'

  app.post(
    `${path}/accept`,
    {
      config: {
        organizationPermission: 'none',
        rejectsImpersonation: true,
        rateLimit: rateLimits.verify,
      },
      schema: {
        summary: 'Accept an invitation by the token of its email',
        body: Token,
        response: { 200: Organization, ...ErrorResponses },
      },
    },
    (request) => accept(request, { token: request.body.token }),
  )

  app.post(
    `${path}/:invitation_id/accept`,
    {
      config: { organizationPermission: 'none', rejectsImpersonation: true },
      schema: {
        summary: 'Accept an invitation to the confirmed address of the current user',
        params: ReceivedPath,
        response: { 200: Organization, ...ErrorResponses },
      },
    },
    (request) => accept(request, { id: readUuid('invitation_id', request.params.invitation_id) }),
  )

  async function accept(request: FastifyRequest, claim: InvitationClaim) {
    const auth = bearerAuth.getSessionAuth(request)
    const now = new Date()
    const ip = request.clientIp
    await permitAcceptance(app, auth.user, claim, { ip, now })
    return db.transaction().execute(async (trx) => {
      const { user } = await bearerAuth.reauthorizeSession(trx, auth, now)
      const by = { actor: user, ip }
      return toOrganization(await acceptOrganizationInvitation(app, trx, user, claim, by, now))
    })
  }
}

export const declineInvitations: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const path = '/organizations/invitations'

  app.post(
    `${path}/:invitation_id/decline`,
    {
      config: { organizationPermission: 'none', rejectsImpersonation: true },
      schema: {
        summary: 'Decline an invitation to the confirmed address of the current user',
        params: ReceivedPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const auth = bearerAuth.getSessionAuth(request)
      const claim = { id: readUuid('invitation_id', request.params.invitation_id) }
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        const { user } = await bearerAuth.reauthorizeSession(trx, auth, now)
        const by = { actor: user, ip: request.clientIp }
        await declineInvitation(app, trx, user, claim, by, now)
      })
      return reply.status(204).send(null)
    },
  )
}
