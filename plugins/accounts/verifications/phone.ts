/** What a proven phone does to its account. */
import type { Trx } from '../../../db/database.ts'
import { putIdentity } from '../../../db/identities.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { mergeMetadata, type UserRecord, updateUser } from '../../../db/users.ts'
import { done, type Verified } from './verified.ts'

export async function confirmPhone(trx: Trx, user: UserRecord, now: Date): Promise<Verified> {
  const action = user.phone_confirmed_at ? 'login' : 'user_signedup'
  await deleteTokens(trx, user.id)
  await updateUser(trx, user.id, { phone_confirmed_at: user.phone_confirmed_at ?? now }, now)
  await mergeMetadata(trx, user.id, { user: { phone_verified: true } }, now)
  return done(trx, user, 'sms', action, now)
}

export async function changePhone(trx: Trx, user: UserRecord, now: Date): Promise<Verified> {
  const phone = user.phone_change
  if (!phone) return { state: 'refused' }
  await deleteTokens(trx, user.id)
  const change = { phone, phone_change: '', phone_confirmed_at: now, is_anonymous: false }
  await updateUser(trx, user.id, change, now)
  const identity = {
    user_id: user.id,
    provider: 'phone',
    provider_id: user.id,
    identity_data: { sub: user.id, phone, phone_verified: true },
  }
  await putIdentity(trx, identity, now)
  return done(trx, user, 'phone_change', 'user_modified', now)
}
