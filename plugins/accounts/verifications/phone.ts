/** What a proven phone does to its account. */
import type { Trx } from '../../../db/database.ts'
import { deleteTokens } from '../../../db/one-time-tokens.ts'
import { mergeMetadata } from '../../../db/user-edits.ts'
import { type UserRecord, updateUser } from '../../../db/users.ts'
import { done, type Verified } from './verified.ts'

export async function confirmPhone(trx: Trx, user: UserRecord, now: Date): Promise<Verified> {
  const action = user.phone_confirmed_at ? 'login' : 'user_signedup'
  await deleteTokens(trx, user.id)
  const phone_confirmed_at = user.phone_confirmed_at ?? now
  await updateUser(trx, user.id, { phone_confirmed_at, is_anonymous: false }, now)
  await mergeMetadata(trx, user.id, { user: { phone_verified: true } }, now)
  return done(trx, user, 'sms', action, now)
}
