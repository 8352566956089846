/** The one place that clears an account of what it was given before anybody proved its address. */
import type { Trx } from '../../../db/database.ts'
import { deleteFactors } from '../../../db/factors.ts'
import { deleteIdentitiesBeside, deleteOtherIdentities } from '../../../db/identities.ts'
import { deleteKnownDevices } from '../../../db/known-devices.ts'
import { deleteRecoveryCodes } from '../../../db/recovery-codes.ts'
import { replaceUserMetadata } from '../../../db/user-edits.ts'
import { recomputeProviders } from '../../../db/user-providers.ts'
import { updateUser, withoutPendingChanges } from '../../../db/user-rows.ts'
import type { Metadata, UserRecord } from '../../../db/users.ts'
import { deletePasskeys } from '../../../db/webauthn-credentials.ts'
import type { House } from '../../define-plugin.ts'

/** What came with the proof, and so stays. */
export interface Kept {
  /** One identity, or those of one provider. */
  keepIdentity: { id: string } | { provider: 'email' | 'phone' }
  /** Replaces the password; null when the proof came without one. */
  passwordHash: string | null
  /** Replaces user_metadata; absent, it stays. */
  metadata?: Metadata
  /** Sessions from before the proof stay, because proveEmail ends them once the address is really proven. */
  keepSessions?: boolean
}

/**
 * A password, passkey, second factor, identity, session or pending change from before the proof may be somebody else's. A
 * confirmed phone was proven, so it stays, with its password, its passkeys and the factors.
 */
export async function dropUnproven(
  { sessions }: House<'sessions'>,
  trx: Trx,
  user: UserRecord,
  { keepIdentity, passwordHash, metadata, keepSessions }: Kept,
  now: Date,
): Promise<void> {
  const keepsPhone = user.phone_confirmed_at !== null
  const password = keepsPhone ? {} : { encrypted_password: passwordHash }
  await updateUser(trx, user.id, { ...password, ...withoutPendingChanges }, now)
  if (!keepsPhone) {
    await deleteFactors(trx, user.id)
    await deletePasskeys(trx, user.id)
    await deleteRecoveryCodes(trx, user.id)
  }
  if (metadata) await replaceUserMetadata(trx, user.id, metadata, now)
  const phone = keepsPhone ? ['phone'] : []
  if ('id' in keepIdentity) {
    await deleteIdentitiesBeside(trx, { id: keepIdentity.id, user_id: user.id }, phone)
  } else {
    await deleteOtherIdentities(trx, user.id, [keepIdentity.provider, ...phone])
  }
  await recomputeProviders(trx, user.id, now)
  if (!keepSessions) {
    await sessions.endAll(trx, user.id, { keepsUnopened: true }, now)
    await deleteKnownDevices(trx, user.id)
  }
}
