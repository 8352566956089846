import type { FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import {
  authenticateScimClient,
  lockScimClient,
  type ProvisioningRequest,
} from '../../../modules/scim/index.ts'
import { toProvisioningRequest } from './shapes.ts'

/**
 * Repeats the authentication, because the body or a hook may have taken long, and again at the end, under a lock that
 * keeps it valid: users are locked before tokens.
 */
export async function applyScimChange<T>(
  request: FastifyRequest,
  work: (trx: Trx, context: ProvisioningRequest) => Promise<T>,
): Promise<T> {
  const { db } = request.server
  const { authorization } = request.headers
  const { connection: known, ...context } = toProvisioningRequest(request)
  const id = known.sso_provider_id
  const connection = await authenticateScimClient(db, id, authorization, context.now)
  return db.transaction().execute(async (trx) => {
    const result = await work(trx, { ...context, connection })
    await lockScimClient(trx, id, authorization, context.now)
    return result
  })
}
