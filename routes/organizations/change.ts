/**
 * A change of an organization: the authorization is repeated in its transaction, under locks that keep it valid until
 * the end.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { type ChangedBy, changedBy } from '../../modules/organizations/index.ts'

export interface AuthorizedChange {
  trx: Trx
  /** Of the organization. */
  id: string
  /** The permissions that the actor may grant. */
  permissions: readonly string[]
  by: ChangedBy
  now: Date
}

/** `userIds` are the users whom the change concerns. Throws like `reauthorizeInOrganization`. */
export async function applyOrganizationChange<T>(
  { bearerAuth, db }: Pick<FastifyInstance, 'bearerAuth' | 'db'>,
  request: FastifyRequest,
  work: (change: AuthorizedChange) => Promise<T>,
  userIds: readonly string[] = [],
): Promise<T> {
  const now = new Date()
  return db.transaction().execute(async (trx) => {
    const access = await bearerAuth.reauthorizeInOrganization(trx, request, now, userIds)
    return work({ trx, ...access, by: await changedBy(trx, request), now })
  })
}
