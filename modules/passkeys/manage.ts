/** Renaming and deleting passkeys, and whether they are enabled. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { deletePasskey, type PasskeyRow, renamePasskey } from '../../db/passkeys/credentials.ts'
import type { SessionAuth } from '../../plugins/security/bearer-auth/index.ts'
import { insufficientAal, noSuchPasskey, passkeyDisabled } from '../../schemas/errors.ts'
import { type AuditContext, recordAudit } from '../audit/index.ts'

/** The caller must have locked the session. Throws validation_failed for an unknown passkey. */
export async function changePasskeyName(
  { audit }: FastifyInstance,
  trx: Trx,
  { user }: SessionAuth,
  { id, name }: { id: string; name: string },
  { ip, now }: AuditContext,
): Promise<PasskeyRow> {
  const row = await renamePasskey(trx, { userId: user.id, id }, name, now)
  if (!row) throw noSuchPasskey()
  await recordAudit(audit, trx, 'passkey_updated', user, { ip, now, traits: { passkey_id: id } })
  return row
}

/**
 * The caller must have locked the session and user, so that a concurrent sign-in with the deleted passkey is not
 * reported as a clone. Throws insufficient_aal where a second factor is required, validation_failed for an unknown
 * passkey.
 */
export async function removePasskey(
  { audit, bearerAuth }: FastifyInstance,
  trx: Trx,
  auth: SessionAuth,
  id: string,
  { ip, now }: AuditContext,
): Promise<void> {
  const { user } = auth
  if (!bearerAuth.isConfirmed(auth, now)) {
    throw insufficientAal('AAL2 required to delete a passkey', 403)
  }
  if (!(await deletePasskey(trx, { userId: user.id, id }))) throw noSuchPasskey()
  await recordAudit(audit, trx, 'passkey_deleted', user, { ip, now, traits: { passkey_id: id } })
}

/** An onRequest hook. Throws passkey_disabled. */
export async function requirePasskeysEnabled({ config }: FastifyInstance): Promise<void> {
  if (!config.AUTH_PASSKEY_ENABLED) throw passkeyDisabled()
}
