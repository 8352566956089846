/** Applies a sign-up to an account, or returns the account as if it were applied. */
import type { Trx } from '../../../db/core/database.ts'
import { type NewIdentity, upsertIdentity } from '../../../db/identities/identities.ts'
import type { UserMetadata } from '../../../db/tables/users.ts'
import type { PendingSignUpData, StoredData } from '../../../db/users/pending-sign-ups.ts'
import type { UserRecord } from '../../../db/users/users.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { clearUnverifiedCredentials } from './clear-unverified.ts'
import type { SignUpInput } from './types.ts'
import { isMadeByAdmin, type LoginIdentifier, toNewIdentity, toUserMetadata } from './user-data.ts'

/** The values of a sign-up. */
interface PendingSignUpDraft {
  contact: LoginIdentifier
  metadata: UserMetadata
  identity: NewIdentity
}

export function createPendingDraft(user: UserRecord, input: SignUpInput): PendingSignUpDraft {
  const { contact } = input
  const metadata = metadataFor(user, input)
  return { contact, metadata, identity: identityRow(user, contact, metadata) }
}

/** The metadata of the sign-up; an admin's metadata are kept, those of an earlier sign-up are not. */
function metadataFor(user: UserRecord, { contact, data, byAdmin }: SignUpInput): UserMetadata {
  if (!byAdmin) return toUserMetadata(user.id, contact, data)
  return isMadeByAdmin(user) ? (user.raw_user_meta_data ?? {}) : data
}

function identityRow(
  { id }: UserRecord,
  contact: LoginIdentifier,
  metadata: UserMetadata,
): NewIdentity {
  return { ...toNewIdentity(id, contact, metadata), user_id: id }
}

/** Replaces password and metadata with those of the sign-up and clears the rest. */
export async function replaceAccountData(
  deps: Deps<'sessions'>,
  trx: Trx,
  user: UserRecord,
  contact: LoginIdentifier,
  { passwordHash, metadata }: PendingSignUpData,
  now: Date,
): Promise<void> {
  const { provider } = contact
  await upsertIdentity(trx, identityRow(user, contact, metadata), now)
  await clearUnverifiedCredentials(
    deps,
    trx,
    user,
    { keepIdentity: { provider }, passwordHash, metadata },
    now,
  )
}

/** The account as this sign-up alone would have created it, for the response. */
export function withPendingSignUp(
  user: UserRecord,
  { contact: { provider, address }, identity }: PendingSignUpDraft,
  stored: StoredData & { id?: string },
  now: Date,
): UserRecord {
  const time = now.toISOString()
  const own = user.identities.find((identity) => identity.provider === provider) ?? {
    id: stored.id ?? crypto.randomUUID(),
    last_sign_in_at: time,
    created_at: time,
    updated_at: time,
  }
  const shown = {
    ...own,
    ...identity,
    identity_data: stored.identityData,
    email: provider === 'email' ? address : null,
  }
  return { ...user, raw_user_meta_data: stored.metadata, identities: [shown] }
}
