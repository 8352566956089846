import type { Trx } from '../../../db/database.ts'
import type { Metadata } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { lock } from './lock.ts'
import { mergeWithin } from './metadata-size.ts'
import { findOwner, isUnproven } from './register.ts'
import { type Contact, isMadeByAdmin } from './sign-up-data.ts'

/**
 * What an admin says of people who have not come yet: merged into the data of a person whom an admin made and nobody has
 * proven to be. Changes nobody else. Throws metadata_too_large.
 */
export async function addAdminData(
  house: House<'config'>,
  trx: Trx,
  { contact, aud, data }: { contact: Contact; aud: string; data: Metadata },
  now: Date,
): Promise<void> {
  if (Object.keys(data).length === 0) return
  const found = await findOwner(trx, contact, aud)
  const user = found && (await lock(trx, found.id))
  if (!user || !isUnproven(user, contact) || !isMadeByAdmin(user)) return
  await mergeWithin(house, trx, user.id, { user: data }, now)
}
