import type { FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { type ProvisioningRequest, reauthenticateScimClient } from '../../../modules/scim/index.ts'
import { toProvisioningRequest } from './shapes.ts'

/** Authenticates again in the transaction, because the body or a hook may have taken long. */
export async function applyScimChange<T>(
  request: FastifyRequest,
  work: (trx: Trx, context: ProvisioningRequest) => Promise<T>,
): Promise<T> {
  const { db } = request.server
  const { authorization } = request.headers
  const { connection, ...context } = toProvisioningRequest(request)
  const id = connection.sso_provider_id
  return db.transaction().execute(async (trx) => {
    const current = await reauthenticateScimClient(trx, id, authorization, context.now)
    return work(trx, { ...context, connection: current })
  })
}
