import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'

import { listInvitationsTo } from '../../../db/organizations/invitations.ts'
import { findProvenAddress } from '../../../modules/access/index.ts'
import {
  acceptOrganizationInvitation,
  declineInvitation,
  type InvitationClaim,
  permitAcceptance,
} from '../../../modules/organizations/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { ReceivedInvitations, toReceivedInvitation } from '../../../schemas/organizations/member.ts'
import { Organization, toOrganization } from '../../../schemas/organizations/organization.ts'
import { NoBody } from '../../../schemas/values/empty.ts'

const Token = Type.Object({ token: Type.String({ maxLength: 100 }) })
const Path = Type.Object({ invitation_id: Type.String() })

const readInvitations: FastifyPluginAsyncTypebox = async (app) => {
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

const acceptInvitations: FastifyPluginAsyncTypebox = async (app) => {
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
    await permitAcceptance(app, auth.user, claim, { ip, now })
    return db.transaction().execute(async (trx) => {
      const { user } = await bearerAuth.reauthorizeSession(trx, auth, now)
      const by = { actor: user, ip }
      return toOrganization(await acceptOrganizationInvitation(app, trx, user, claim, by, now))
    })
  }
}

const declineInvitations: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const path = '/organizations/invitations'

  app.post(
    `${path}/:invitation_id/decline`,
    {
      config: { organizationPermission: 'none', rejectsImpersonation: true },
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
        await declineInvitation(app, trx, user, claim, by, now)
      })
      return reply.status(204).send(null)
    },
  )
}

export { acceptInvitations, declineInvitations, readInvitations }
