/** What a person does with the passkeys they have. */
import type { Trx } from '../../../../db/database.ts'
import {
  deletePasskey,
  type PasskeyRow,
  renamePasskey,
} from '../../../../db/webauthn-credentials.ts'
import { insufficientAal, noSuchPasskey } from '../../../../errors.ts'
import type { Member } from '../../../bearer-auth.ts'
import type { House } from '../../../define-plugin.ts'

/** The caller holds the member. Throws validation_failed for a passkey the person does not have. */
export async function rename(
  { audit }: House<'audit'>,
  trx: Trx,
  { user }: Member,
  { id, name }: { id: string; name: string },
  { ip, now }: { ip: string; now: Date },
): Promise<PasskeyRow> {
  const row = await renamePasskey(trx, { userId: user.id, id }, name, now)
  if (!row) throw noSuchPasskey()
  await audit.record(trx, 'passkey_updated', user, { ip, now, traits: { passkey_id: id } })
  return row
}

/**
 * The caller holds the member, and with them whoever signs in with the passkey: a deleted one must not be taken for a
 * copied one. Throws insufficient_aal where a second factor is owed, validation_failed for a passkey the person does not
 * have.
 */
export async function remove(
  { audit, bearerAuth }: House<'audit' | 'bearerAuth'>,
  trx: Trx,
  member: Member,
  id: string,
  { ip, now }: { ip: string; now: Date },
): Promise<void> {
  const { user } = member
  if (!bearerAuth.isConfirmed(member, now)) {
    throw insufficientAal('AAL2 required to delete a passkey', 403)
  }
  if (!(await deletePasskey(trx, { userId: user.id, id }))) throw noSuchPasskey()
  await audit.record(trx, 'passkey_deleted', user, { ip, now, traits: { passkey_id: id } })
}
