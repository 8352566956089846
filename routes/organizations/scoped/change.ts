/** A change of an organization: authorized again in its transaction, under locks that keep it true until it ends. */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { type ChangedBy, changedBy } from '../../../modules/organizations/index.ts'

export interface Held {
  trx: Trx
  /** Of the organization. */
  id: string
  /** What the actor may grant. */
  permissions: readonly string[]
  by: ChangedBy
  now: Date
}

/** `userIds` are users whom the change concerns. Throws what `holdOrganization` throws. */
export async function applyOrganizationChange<T>(
  { bearerAuth, db }: Pick<FastifyInstance, 'bearerAuth' | 'db'>,
  request: FastifyRequest,
  work: (held: Held) => Promise<T>,
  userIds: readonly string[] = [],
): Promise<T> {
  const now = new Date()
  return db.transaction().execute(async (trx) => {
    const access = await bearerAuth.holdOrganization(trx, request, now, userIds)
    return work({ trx, ...access, by: await changedBy(trx, request), now })
  })
}
