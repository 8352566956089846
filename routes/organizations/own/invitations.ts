import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import { listInvitationsTo } from '../../../db/organizations/invitations.ts'
import {
  acceptOrganizationInvitation,
  declineInvitation,
  findConfirmedAddress,
  type InvitationClaim,
  permitAcceptance,
} from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { ReceivedInvitations, toReceivedInvitation } from '../../../schemas/organizations/member.ts'
import { Organization, toOrganization } from '../../../schemas/organizations/organization.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const Path = Type.Object({ invitation_id: Type.String() })

const readInvitations: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db } = fastify
  const path = '/organizations/invitations'

  fastify.get(
    path,
    {
      config: { rejectsImpersonation: false },
      schema: {
        summary: 'List the invitations to the confirmed address of the current user',
        response: { 200: ReceivedInvitations, ...ErrorResponses },
      },
    },
    async (request) => {
      const email = await findConfirmedAddress(db, bearerAuth.getAuth(request).user)
      const rows = email ? await listInvitationsTo(db, email, new Date()) : []
      return { invitations: rows.map(toReceivedInvitation) }
    },
  )
}

const acceptInvitations: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, organizations, rateLimits } = fastify
  const path = '/organizations/invitations'

  fastify.post(
    `${path}/accept`,
    {
      config: { rejectsImpersonation: true, rateLimit: rateLimits.verify },
      schema: {
        summary: 'Accept an invitation by the token of its email',
        body: Type.Object({ token: Type.String({ maxLength: 100 }) }),
        response: { 200: Organization, ...ErrorResponses },
      },
    },
    (request) => accept(request, { token: request.body.token }),
  )

  fastify.post(
    `${path}/:invitation_id/accept`,
    {
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Accept an invitation to the confirmed address of the current user',
        params: Path,
        response: { 200: Organization, ...ErrorResponses },
      },
    },
    (request) => accept(request, { id: readUuid('invitation_id', request.params.invitation_id) }),
  )

  async function accept(request: FastifyRequest, claim: InvitationClaim) {
    const auth = bearerAuth.getSessionAuth(request)
    const now = new Date()
    const ip = request.clientIp
    await permitAcceptance(organizations, auth.user, claim, { ip, now })
    return db.transaction().execute(async (trx) => {
      const { user } = await bearerAuth.reauthorizeSession(trx, auth, now)
      const by = { actor: user, ip }
      return toOrganization(
        await acceptOrganizationInvitation(organizations, trx, user, claim, by, now),
      )
    })
  }
}

const declineInvitations: FastifyPluginAsyncTypebox = async (fastify) => {
  const { bearerAuth, db, organizations } = fastify
  const path = '/organizations/invitations'

  fastify.post(
    `${path}/:invitation_id/decline`,
    {
      config: { rejectsImpersonation: true },
      schema: {
        summary: 'Decline an invitation to the confirmed address of the current user',
        params: Path,
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
        await declineInvitation(organizations, trx, user, claim, by, now)
      })
      return reply.status(204).send(null)
    },
  )
}

export { acceptInvitations, declineInvitations, readInvitations }
