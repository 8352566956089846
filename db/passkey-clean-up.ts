/** Removal of old rows of passkeys, like that of the others. */
import { chosen, count } from './clean-up.ts'
import type { Db } from './database.ts'

export function deleteExpiredPasskeyChallenges(db: Db, expiredBefore: Date, limit: number) {
  const old = db
    .selectFrom('webauthn_challenges')
    .select('id')
    .where('expires_at', '<', expiredBefore)
    .orderBy('expires_at')
  return count(db.deleteFrom('webauthn_challenges').where('id', '=', chosen(old, limit)))
}
