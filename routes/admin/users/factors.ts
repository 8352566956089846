/** Second factors of a user, and their recovery codes. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { isUniqueViolation } from '../../../db/core/errors.ts'
import { changeFactor, listFactors, removeFactor } from '../../../db/factors/admin.ts'
import { findRecoveryCodeSet } from '../../../db/factors/recovery-codes.ts'
import { recordAccess } from '../../../modules/access/index.ts'
import { changedFields, recordAdminActionOnUser } from '../../../modules/audit/index.ts'
import { findCodesRemovedWith } from '../../../modules/factors/index.ts'
import { lockUserById } from '../../../modules/users/index.ts'
import { subjectUserId } from '../../../schemas/access-token.ts'
import { UserPath } from '../../../schemas/admin-user.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import {
  mfaFactorNameConflict,
  mfaFactorNotFound,
  mfaVerifiedFactorExists,
} from '../../../schemas/errors.ts'
import { normalizePhone, readUuid } from '../../../schemas/fields.ts'
import { RemainingCodes } from '../../../schemas/recovery-codes.ts'
import { Factor, type FactorSource, toFactor } from '../../../schemas/user.ts'
import { NoBody } from '../../../schemas/values/empty.ts'
import { requireUserParam } from './user-param.ts'

const Factors = Type.Array(Factor)

const factors: FastifyPluginAsyncTypebox = async (app) => {
  const { db } = app

  app.get(
    '/admin/users/:user_id/factors',
    {
      config: { minimumRole: 'support' },
      schema: {
        tags: ['admin'],
        summary: 'List the factors of a user',
        params: UserPath,
        response: { 200: Factors, ...ErrorResponses },
      },
    },
    async ({ params }) => {
      const { id } = await requireUserParam(db, readUuid('user_id', params.user_id))
      return (await listFactors(db, id)).map(toFactor)
    },
  )
}

const FactorPath = Type.Object({ user_id: Type.String(), factor_id: Type.String() })

const Change = Type.Object({
  friendly_name: Type.Optional(Type.String({ maxLength: 255 })),
  phone: Type.Optional(Type.String({ description: 'Of a phone factor' })),
})

const response = { 200: Factor, ...ErrorResponses }

const updateSchema = {
  tags: ['admin'],
  summary: 'Update a factor',
  params: FactorPath,
  body: Change,
  response,
}

const deleteSchema = {
  tags: ['admin'],
  summary: 'Delete a factor',
  description:
    'Sessions that it stepped up to aal2 return to aal1. Recovery codes are deleted with the last verified factor.',
  params: FactorPath,
  response,
}

const factor: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app
  const path = '/admin/users/:user_id/factors/:factor_id'

  app.put(
    path,
    { config: { minimumRole: 'operator', givesAccess: true }, schema: updateSchema },
    async (request) => toFactor(await updateFactor(app, request)),
  )

  app.delete(
    path,
    { config: { minimumRole: 'operator' }, schema: deleteSchema },
    async (request) => {
      const now = new Date()
      const ids = readIds(request.params)
      const removed = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const user = await lockUserById(trx, ids.userId)
        const row = await removeFactor(trx, ids, now)
        if (!row) throw mfaFactorNotFound()
        const changes = changedFields(shown(row), undefined)
        const { factor_type } = row
        const traits = { now, factor_id: ids.factorId, factor_type, ...changes }
        await recordAdminActionOnUser(audit, trx, 'factor_deleted', request, user, traits)
        const codes = findCodesRemovedWith(user, ids.factorId)
        if (codes) {
          await removeFactor(trx, { userId: user.id, factorId: codes.id }, now)
          const ended = { now, factor_id: codes.id }
          await recordAdminActionOnUser(audit, trx, 'recovery_codes_deleted', request, user, ended)
        }
        return row
      })
      return toFactor(removed)
    },
  )
}

/** Throws mfa_factor_not_found, mfa_factor_name_conflict and mfa_verified_factor_exists. */
async function updateFactor(
  app: FastifyInstance,
  request: FastifyRequest<{ Params: Static<typeof FactorPath>; Body: Static<typeof Change> }>,
) {
  const { audit, bearerAuth, db } = app
  const now = new Date()
  const ids = readIds(request.params)
  const { friendly_name, phone } = request.body
  const change = {
    ...(friendly_name && { friendly_name }),
    ...(phone && { phone: normalizePhone(phone) }),
  }
  return db.transaction().execute(async (trx) => {
    await bearerAuth.reauthorizeAdmin(trx, request, now)
    const user = await lockUserById(trx, ids.userId)
    const row = await changeFactor(trx, ids, change, now).catch((error) => {
      throw toConflict(error, friendly_name)
    })
    if (!row) throw mfaFactorNotFound()
    const before = user.factors.find(({ id }) => id === ids.factorId)
    const changes = changedFields(shown(before), shown(row))
    const traits = { now, factor_id: ids.factorId, fields: Object.keys(change), ...changes }
    await recordAdminActionOnUser(audit, trx, 'factor_updated', request, user, traits)
    if (row.status === 'verified' && row.phone !== before?.phone) {
      // As other credentials that admins set for themselves.
      const isOwn = subjectUserId(request.admin) === user.id
      const grant = { kind: 'factor', factorType: row.factor_type } as const
      await recordAccess(app, trx, { user, grant, isEstablished: !isOwn }, now)
    }
    return row
  })
}

/** Maps the violated index to an error. */
function toConflict(error: unknown, name = ''): unknown {
  if (!isUniqueViolation(error)) return error
  const isPhone = error.constraint?.includes('phone')
  return isPhone ? mfaVerifiedFactorExists() : mfaFactorNameConflict(name)
}

/** The audit payload of a factor. */
function shown(row: FactorSource | undefined) {
  if (!row) return undefined
  const { id, created_at, updated_at, last_challenged_at, ...fields } = toFactor(row)
  return fields
}

function readIds({ user_id, factor_id }: Static<typeof FactorPath>) {
  return { userId: readUuid('user_id', user_id), factorId: readUuid('factor_id', factor_id) }
}

const codesPath = '/admin/users/:user_id/factors/recovery_codes'

const recoveryCodes: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app

  app.get(
    codesPath,
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
    codesPath,
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

export const factorRoutes = { factors, factor, recoveryCodes }
