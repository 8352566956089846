import type { Db } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'

export function deleteExpiredPasskeyChallenges(db: Db, expiredBefore: Date, limit: number) {
  const old = db
    .selectFrom('webauthn_challenges')
    .select('id')
    .where('expires_at', '<', expiredBefore)
    .orderBy('expires_at')
  return count(db.deleteFrom('webauthn_challenges').where('id', '=', whereChosen(old, limit)))
}
