/** An account with what a sign-up brings to it: as it becomes, and as whoever signed up is shown it. */
import type { Trx } from '../../../db/database.ts'
import { type NewIdentity, putIdentity } from '../../../db/identities.ts'
import type { SignUpClaim, StoredData } from '../../../db/pending-sign-ups.ts'
import type { Metadata, UserRecord } from '../../../db/users.ts'
import type { House } from '../../define-plugin.ts'
import { dropUnproven } from './drop-unproven.ts'
import type { Registrant } from './register.ts'
import { type Contact, identityOf, isMadeByAdmin, metadataOf } from './sign-up-data.ts'

/** What a sign-up would write into an account. */
export interface Draft {
  contact: Contact
  metadata: Metadata
  identity: NewIdentity
}

export function draftOf(user: UserRecord, person: Registrant): Draft {
  const { contact } = person
  const metadata = metadataFor(user, person)
  return { contact, metadata, identity: identityRow(user, contact, metadata) }
}

/** What the sign-up says of them; what an admin said before stays, and a sign-up's data is nobody's proven own. */
function metadataFor(user: UserRecord, { contact, data, byAdmin }: Registrant): Metadata {
  if (!byAdmin) return metadataOf(user.id, contact, data)
  return isMadeByAdmin(user) ? (user.raw_user_meta_data ?? {}) : data
}

function identityRow({ id }: UserRecord, contact: Contact, metadata: Metadata): NewIdentity {
  return { ...identityOf(id, contact, metadata), user_id: id }
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
  await putIdentity(trx, identityRow(user, contact, metadata), now)
  await dropUnproven(house, trx, user, { keepIdentity: { provider }, passwordHash, metadata }, now)
}

/** The account as it would be by this sign-up alone: what is in it is nothing to whoever signed up. */
export function asClaimed(
  user: UserRecord,
  { contact: { provider, address }, identity }: Draft,
  stored: StoredData & { id?: string },
): UserRecord {
  const own = user.identities.find((identity) => identity.provider === provider)
  const shown = {
    ...identity,
    id: own?.id ?? stored.id ?? crypto.randomUUID(),
    identity_data: stored.identityData,
    last_sign_in_at: null,
    created_at: null,
    updated_at: null,
    email: provider === 'email' ? address : null,
  }
  return { ...user, raw_user_meta_data: stored.metadata, identities: [shown] }
}
