import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { changeFactor, removeFactor } from '../../../db/factors-admin.ts'
import { isUniqueViolation } from '../../../db/unique-violation.ts'
import {
  mfaFactorNameConflict,
  mfaFactorNotFound,
  mfaVerifiedFactorExists,
} from '../../../errors.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { normalizePhone, readUuid } from '../../../schemas/fields.ts'
import { Factor, type FactorSource, toFactor } from '../../../schemas/user.ts'

const Path = Type.Object({ user_id: Type.String(), factor_id: Type.String() })

const Change = Type.Object({
  friendly_name: Type.Optional(Type.String({ maxLength: 255 })),
  phone: Type.Optional(Type.String({ description: 'Of a phone factor' })),
})

const factor: FastifyPluginAsyncTypebox = async (fastify) => {
  const { audit, bearerAuth, db, users } = fastify
  const path = '/admin/users/:user_id/factors/:factor_id'
  const response = { 200: Factor, ...ErrorResponses }

  fastify.put(
    path,
    {
      schema: {
        tags: ['admin'],
        summary: 'Change a second factor',
        params: Path,
        body: Change,
        response,
      },
    },
    async (request) => {
      const now = new Date()
      const ids = readIds(request.params)
      const { friendly_name, phone } = request.body
      const change = {
        ...(friendly_name && { friendly_name }),
        ...(phone && { phone: normalizePhone(phone) }),
      }
      const changed = await db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const user = await users.lockNamed(trx, ids.userId)
        const row = await changeFactor(trx, ids, change, now).catch((error) => {
          throw toConflict(error, friendly_name)
        })
        if (!row) throw mfaFactorNotFound()
        const before = user.factors.find(({ id }) => id === ids.factorId)
        const changes = audit.difference(shown(before), shown(row))
        const traits = { now, factor_id: ids.factorId, fields: Object.keys(change), ...changes }
        await audit.recordAdmin(trx, 'factor_updated', request, user, traits)
        return row
      })
      return toFactor(changed)
    },
  )

  fastify.delete(
    path,
    {
      schema: {
        tags: ['admin'],
        summary: 'Remove a second factor',
        description: 'Sessions that it had raised to aal2 fall back to aal1.',
        params: Path,
        response,
      },
    },
    async (request) => {
      const now = new Date()
      const ids = readIds(request.params)
      const removed = await db.transaction().execute(async (trx) => {
        await bearerAuth.holdAdmin(trx, request, now)
        const user = await users.lockNamed(trx, ids.userId)
        const row = await removeFactor(trx, ids, now)
        if (!row) throw mfaFactorNotFound()
        const changes = audit.difference(shown(row), undefined)
        const { factor_type } = row
        const traits = { now, factor_id: ids.factorId, factor_type, ...changes }
        await audit.recordAdmin(trx, 'factor_deleted', request, user, traits)
        return row
      })
      return toFactor(removed)
    },
  )
}

/** Which index refused the change. */
function toConflict(error: unknown, name = ''): unknown {
  if (!isUniqueViolation(error)) return error
  const isPhone = error.constraint?.includes('phone')
  return isPhone ? mfaVerifiedFactorExists() : mfaFactorNameConflict(name)
}

/** What the audit trail tells of a factor. */
function shown(row: FactorSource | undefined) {
  if (!row) return undefined
  const { id, created_at, updated_at, last_challenged_at, ...fields } = toFactor(row)
  return fields
}

function readIds({ user_id, factor_id }: Static<typeof Path>) {
  return { userId: readUuid('user_id', user_id), factorId: readUuid('factor_id', factor_id) }
}

export default factor
