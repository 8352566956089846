import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { removeFactor } from '../../../db/factors/admin.ts'
import { findRecoveryCodeSet } from '../../../db/factors/recovery-codes.ts'
import { recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { lockUserById } from '../../../modules/users/index.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { readUuid } from '../../../schemas/fields.ts'
import { RemainingCodes } from '../../../schemas/recovery-codes.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { requireUserParam } from './user-param.ts'

const path = '/admin/users/:user_id/factors/recovery_codes'

const recoveryCodes: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        tags: ['admin'],
        summary: 'Get the number of recovery codes of a user',
        params: UserPath,
        response: { 200: RemainingCodes, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const { id } = await requireUserParam(db, readUuid('user_id', params.user_id))
      const set = await findRecoveryCodeSet(db, id)
      return { remaining: set?.remaining ?? 0 }
    },
  )

  app.delete(
    path,
    {
      config: { minimumRole: 'operator' },
      schema: {
        tags: ['admin'],
        summary: 'Delete the recovery codes of a user',
        description: 'Sessions that one of them stepped up to aal2 return to aal1.',
        params: UserPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const userId = readUuid('user_id', request.params.user_id)
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await lockUserById(trx, userId)
        const codes = user.factors.find(({ factor_type }) => factor_type === 'recovery_code')
        if (codes) await removeFactor(trx, { userId, factorId: codes.id }, now)
        const traits = { now, ...(codes && { factor_id: codes.id }) }
        await recordAdminActionOnUser(audit, trx, 'recovery_codes_deleted', request, user, traits)
      })
      return reply.status(204).send(null)
    },
  )
}

export default recoveryCodes
