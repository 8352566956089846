import type { Trx } from '../../../db/database.ts'
import { deleteIdentitiesBeside, recomputeProviders } from '../../../db/identities.ts'
import { replaceUserMetadata } from '../../../db/user-edits.ts'
import { type Metadata, type UserRecord, updateUser } from '../../../db/users.ts'

/**
 * What an account was given before anybody proved its address may be somebody else's: nothing of it outlives the
 * first proof but this identity. A confirmed phone was proven, so it stays, with its password.
 */
export async function purge(
  trx: Trx,
  user: UserRecord,
  identity: { id: string; user_id: string; identity_data: Metadata },
  now: Date,
): Promise<void> {
  const keepsPhone = user.phone_confirmed_at !== null
  if (!keepsPhone) await updateUser(trx, user.id, { encrypted_password: null }, now)
  await replaceUserMetadata(trx, user.id, identity.identity_data, now)
  await deleteIdentitiesBeside(trx, identity, keepsPhone ? ['phone'] : [])
  await recomputeProviders(trx, user.id, now)
}
