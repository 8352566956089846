/** An account with what a sign-up brings to it: as it becomes, and as whoever signed up is shown it. */
import type { Trx } from '../../../db/database.ts'
import { type NewIdentity, putIdentity } from '../../../db/identities.ts'
import type { SignUpClaim } from '../../../db/pending-sign-ups.ts'
import type { Metadata, UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { dropUnproven } from './drop-unproven.ts'
import type { Registrant } from './register.ts'
import { type Contact, identityOf, isMadeByAdmin, metadataOf } from './sign-up-data.ts'

/** What the sign-up says of them; what an admin said before stays, and a sign-up's data is nobody's proven own. */
export function metadataFor(user: UserRecord, { contact, data, byAdmin }: Registrant): Metadata {
  if (!byAdmin) return metadataOf(user.id, contact, data)
  return isMadeByAdmin(user) ? (user.raw_user_meta_data ?? {}) : data
}

/** Password and metadata become those of the sign-up, and what else was there goes. */
export async function takeOver(
  house: House<'sessions'>,
  trx: Trx,
  user: UserRecord,
  contact: Contact,
  { passwordHash, metadata }: SignUpClaim,
  now: Date,
): Promise<void> {
  const { provider } = contact
  const identity = { ...identityOf(user.id, contact, metadata), user_id: user.id }
  await putIdentity(trx, identity, now)
  await dropUnproven(house, trx, user, { keepIdentity: { provider }, passwordHash, metadata }, now)
}

/** The account as it would be by this sign-up alone: what is in it is nothing to whoever signed up. */
export function asClaimed(
  user: UserRecord,
  contact: Contact,
  { metadata }: SignUpClaim,
  shown: NewIdentity,
  identityId: string = crypto.randomUUID(),
): UserRecord {
  const { provider, address } = contact
  const own = user.identities.find((identity) => identity.provider === provider)
  const identity = {
    ...shown,
    ...{ id: own?.id ?? identityId },
    ...{ last_sign_in_at: null, created_at: null, updated_at: null },
    email: provider === 'email' ? address : null,
  }
  return { ...user, raw_user_meta_data: metadata, identities: [identity] }
}
