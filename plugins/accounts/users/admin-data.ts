import type { Trx } from '../../../db/database.ts'
import { mergeMetadata } from '../../../db/user-edits.ts'
import type { Metadata } from '../../../db/users.ts'
import { metadataTooLarge } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import { lock } from './lock.ts'
import { findOwner, isUnproven } from './register.ts'
import { type Contact, isMadeByAdmin } from './sign-up-data.ts'

/**
 * What an admin says of people who have not come yet: merged into the data of a person whom an admin made and nobody has
 * proven to be. Changes nobody else. Throws metadata_too_large.
 */
export async function addAdminData(
  { config }: House<'config'>,
  trx: Trx,
  { contact, aud, data }: { contact: Contact; aud: string; data: Metadata },
  now: Date,
): Promise<void> {
  if (Object.keys(data).length === 0) return
  const found = await findOwner(trx, contact, aud)
  const user = found && (await lock(trx, found.id))
  if (!user || !isUnproven(user, contact) || !isMadeByAdmin(user)) return
  const most = config.AUTH_USER_METADATA_MAX_BYTES
  if (await mergeMetadata(trx, user.id, { user: data }, most, now)) return
  throw metadataTooLarge('user_metadata', most)
}
