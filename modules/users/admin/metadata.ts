import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import { lockAndLoadUser } from '../lock.ts'
import { mergeWithin } from '../metadata-size.ts'
import { findOwner } from '../sign-up/find-owner.ts'
import { isUnverified } from '../sign-up/unconfirmed-user.ts'
import { isMadeByAdmin, type LoginIdentifier } from '../sign-up/user-data.ts'

/**
 * Merges an admin's metadata into an unverified user whom an admin created. Changes no other user. Throws
 * metadata_too_large.
 */
export async function applyAdminMetadata(
  app: FastifyInstance,
  trx: Trx,
  { contact, aud, data }: { contact: LoginIdentifier; aud: string; data: UserMetadata },
  now: Date,
): Promise<void> {
  if (Object.keys(data).length === 0) return
  const found = await findOwner(trx, contact, aud)
  const user = found && (await lockAndLoadUser(trx, found.id))
  if (!user || !isUnverified(user, contact) || !isMadeByAdmin(user)) return
  await mergeWithin(app, trx, user.id, { user: data }, now)
}
