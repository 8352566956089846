import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'

import { recordAudit } from '../../../modules/audit/index.ts'
import { checkDeletable, checkDeletion } from '../../../modules/credentials/index.ts'
import { notifyUser } from '../../../modules/emails/index.ts'
import { deleteUserAsAdmin } from '../../../modules/users/index.ts'
import { featureDisabled } from '../../../schemas/errors.ts'

export const DeletionBody = Type.Union([
  Type.Object({
    nonce: Type.Optional(Type.String({ description: 'The code of GET /reauthenticate' })),
    password: Type.Optional(Type.String({ description: 'The current password' })),
  }),
  Type.Null(),
])

/**
 * Deletes the current user after a recent authentication. Throws feature_disabled, and the errors of
 * `credentials.checkDeletion`.
 */
export async function deleteCurrentUser(
  { audit, bearerAuth, config, credentials, db, emails, users }: FastifyInstance,
  request: FastifyRequest<{ Body: Static<typeof DeletionBody> }>,
): Promise<void> {
  const now = new Date()
  if (!config.AUTH_USER_SELF_DELETE_ENABLED) {
    throw featureDisabled('Only admins may delete accounts (AUTH_USER_SELF_DELETE_ENABLED)')
  }
  const { body, clientIp: ip } = request
  const auth = bearerAuth.getAuth(request)
  await checkDeletion(credentials, db, auth, body ?? {}, now)
  await db.transaction().execute(async (trx) => {
    // The session may have been revoked, and a factor added, during the check.
    const current = await bearerAuth.reauthorize(trx, auth, now)
    checkDeletable(credentials, current, now)
    const how = { soft: false, namesConstraint: false }
    const user = await deleteUserAsAdmin(users, trx, current.user.id, how, now)
    await recordAudit(audit, trx, 'user_deleted', user, { ip, now })
    await notifyUser(emails, trx, user, { kind: 'account_deleted_notification' }, now)
  })
}
