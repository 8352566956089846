import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { featureDisabled } from '../../../errors.ts'

export const DeletionBody = Type.Union([
  Type.Object({
    nonce: Type.Optional(Type.String({ description: 'The code of GET /reauthenticate' })),
    password: Type.Optional(Type.String({ description: 'The current one' })),
  }),
  Type.Null(),
])

/**
 * Deletes the person who asks, when they have shown that it is them. Throws feature_disabled, and what
 * `credentials.checkDeletion` throws.
 */
export async function deleteThemselves(
  { audit, bearerAuth, config, credentials, db, emails, users }: FastifyInstance,
  request: FastifyRequest<{ Body: Static<typeof DeletionBody> }>,
): Promise<void> {
  const now = new Date()
  if (!config.AUTH_USER_SELF_DELETE_ENABLED) {
    throw featureDisabled('Accounts are deleted by an admin alone (AUTH_USER_SELF_DELETE_ENABLED)')
  }
  const { body, clientIp: ip } = request
  const bearer = bearerAuth.bearerOf(request)
  await credentials.checkDeletion(db, bearer, body ?? {}, now)
  await db.transaction().execute(async (trx) => {
    // Their session may have ended, and a factor been added, while the proof was looked at.
    const held = await bearerAuth.hold(trx, bearer, now)
    credentials.checkDeletable(held, now)
    const user = await users.remove(trx, held.user.id, { soft: false }, now)
    await audit.record(trx, 'user_deleted', user, { ip, now })
    await emails.notify(trx, user, { kind: 'account_deleted_notification' }, now)
  })
}
