import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { findRecoveryCodeSet } from '../../../db/factors/recovery-codes.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { recoveryCodesNotFound } from '../../../schemas/errors.ts'
import { RemainingCodes } from '../../../schemas/recovery-codes.ts'

const Status = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Of the factor' }),
    type: Type.Literal('recovery_code'),
    total: Type.Integer({ description: 'Codes of the set, used or not' }),
    ...RemainingCodes.properties,
  },
  { title: 'RecoveryCodeStatus' },
)

const status: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const config = { rejectsImpersonation: false, isOpenWithoutFactor: true } as const

  app.get(
    '/factors/recovery-codes',
    {
      config,
      schema: {
        summary: 'Get the number of recovery codes',
        tags: ['mfa'],
        response: { 200: Status, ...ErrorResponses },
      },
    },
    async (request) => {
      const set = await findRecoveryCodeSet(db, bearerAuth.getSessionAuth(request).user.id)
      if (!set) throw recoveryCodesNotFound()
      const { factorId: id, total, remaining } = set
      return { id, type: 'recovery_code' as const, total, remaining }
    },
  )

  app.get(
    '/factors/recovery_codes',
    {
      config,
      schema: {
        summary: 'Get the number of unused recovery codes',
        tags: ['mfa'],
        response: { 200: RemainingCodes, ...ErrorResponses },
      },
    },
    async (request) => {
      const set = await findRecoveryCodeSet(db, bearerAuth.getAuth(request).user.id)
      return { remaining: set?.remaining ?? 0 }
    },
  )
}

export default status
