import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import type { Trx } from '../../../db/database.ts'
import { changeFactor, listFactors, removeFactor } from '../../../db/factors-admin.ts'
import { isUniqueViolation } from '../../../db/unique-violation.ts'
import { findUser } from '../../../db/users.ts'
import {
  mfaFactorNameConflict,
  mfaFactorNotFound,
  userNotFound,
  validationFailed,
} from '../../../errors.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { isUuid, normalizePhone } from '../../../schemas/fields.ts'
import { Factor, toFactor } from '../../../schemas/user.ts'

const FactorPath = Type.Object({ user_id: Type.String(), factor_id: Type.String() })

const Factors = Type.Array(Factor)

const Change = Type.Object({
  friendly_name: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String({ description: 'Of a phone factor' })),
})

const factors: FastifyPluginAsyncTypebox = async (fastify) => {
  const { adminTrail, db, requireAdmin } = fastify
  const factorResponse = { 200: Factor, ...ErrorResponses }

  fastify.get(
    '/admin/users/:user_id/factors',
    {
      onRequest: requireAdmin,
      schema: {
        tags: ['admin'],
        summary: 'The second factors of a person',
        params: UserPath,
        response: { 200: Factors, ...ErrorResponses },
      },
    },
    async ({ params: { user_id } }) => {
      checkUuid('user_id', user_id)
      if (!(await findUser(db, user_id))) throw userNotFound()
      return (await listFactors(db, user_id)).map(toFactor)
    },
  )

  fastify.put(
    '/admin/users/:user_id/factors/:factor_id',
    {
      onRequest: requireAdmin,
      schema: {
        tags: ['admin'],
        summary: 'Change a second factor',
        params: FactorPath,
        body: Change,
        response: factorResponse,
      },
    },
    async (request) => {
      const now = new Date()
      const path = readPath(request.params)
      const { friendly_name, phone } = request.body
      const change = {
        ...(friendly_name !== undefined && { friendly_name }),
        ...(phone && { phone: normalizePhone(phone) }),
      }
      const factor = await db.transaction().execute(async (trx) => {
        const user = await findPerson(trx, path.userId)
        const changed = await changeFactor(trx, path, change, now).catch((error) => {
          throw isUniqueViolation(error) ? mfaFactorNameConflict(friendly_name ?? '') : error
        })
        if (!changed) throw mfaFactorNotFound()
        const traits = { now, factor_id: path.factorId, fields: Object.keys(change) }
        await adminTrail.record(trx, 'factor_updated', request, user, traits)
        return changed
      })
      return toFactor(factor)
    },
  )

  fastify.delete(
    '/admin/users/:user_id/factors/:factor_id',
    {
      onRequest: requireAdmin,
      schema: {
        tags: ['admin'],
        summary: 'Remove a second factor',
        description: 'Sessions that it had raised to aal2 fall back to aal1.',
        params: FactorPath,
        response: factorResponse,
      },
    },
    async (request) => {
      const now = new Date()
      const path = readPath(request.params)
      const factor = await db.transaction().execute(async (trx) => {
        const user = await findPerson(trx, path.userId)
        const removed = await removeFactor(trx, path, now)
        if (!removed) throw mfaFactorNotFound()
        const traits = { now, factor_id: path.factorId, factor_type: removed.factor_type }
        await adminTrail.record(trx, 'factor_deleted', request, user, traits)
        return removed
      })
      return toFactor(factor)
    },
  )
}

async function findPerson(trx: Trx, userId: string) {
  const user = await findUser(trx, userId)
  if (!user) throw userNotFound()
  return user
}

function readPath({ user_id, factor_id }: { user_id: string; factor_id: string }) {
  checkUuid('user_id', user_id)
  checkUuid('factor_id', factor_id)
  return { userId: user_id, factorId: factor_id }
}

function checkUuid(name: string, value: string): void {
  if (!isUuid(value)) throw validationFailed(`${name} must be an UUID`, 404)
}

export default factors
