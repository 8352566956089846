import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findListedMember } from '../../../db/organizations/members.ts'
import { addMember, changedBy, findRolePermissions } from '../../../modules/organizations/index.ts'
import { lockUserById } from '../../../modules/users/index.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { memberExists, memberNotFound } from '../../../schemas/errors.ts'
import { Member, RoleField, toMember } from '../../../schemas/organizations/member.ts'
import { OrganizationPath } from '../../../schemas/organizations/organization.ts'

const Body = Type.Object({
  user_id: Type.String({ format: 'uuid' }),
  role: Type.Optional(RoleField),
})

const members: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.post(
    '/members',
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Make a user a member of an organization',
        params: OrganizationPath,
        body: Body,
        response: { 201: Member, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { user_id: userId, role = 'member' } = request.body
      const now = new Date()
      const added = await db.transaction().execute(async (trx) => {
        const { id } = await bearerAuth.reauthorizeInOrganization(trx, request, now, [userId])
        await lockUserById(trx, userId)
        await findRolePermissions(trx, id, role)
        const by = await changedBy(trx, request)
        const member = { organization_id: id, user_id: userId, role, connection_id: null }
        const joined = { ...member, joined_by: 'admin' as const }
        if (!(await addMember(app, trx, joined, by, now))) throw memberExists()
        return findListedMember(trx, id, userId)
      })
      if (!added) throw memberNotFound()
      return reply.status(201).send(toMember(added))
    },
  )
}

export default members
