import type { Db } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'

/** Deletes anonymous users with all their rows. */
export function deleteOldAnonymousUsers(db: Db, createdBefore: Date, limit: number) {
  const old = oldAnonymousUsers(db, createdBefore)
  return count(db.deleteFrom('users').where('id', '=', whereChosen(old, limit)))
}

/** Returns at most `limit` ids of users that `deleteOldAnonymousUsers` would delete. */
export async function listOldAnonymousUsers(db: Db, createdBefore: Date, limit: number) {
  const rows = await oldAnonymousUsers(db, createdBefore).limit(limit).execute()
  return rows.map(({ id }) => id)
}

function oldAnonymousUsers(db: Db, createdBefore: Date) {
  return db
    .selectFrom('users')
    .select('id')
    .where('is_anonymous', '=', true)
    .where('created_at', '<', createdBefore)
}

/** Returns false when there is no such user, or when the user is not anonymous any more. */
export async function deleteAnonymousUser(db: Db, id: string): Promise<boolean> {
  const deletion = db.deleteFrom('users').where('id', '=', id).where('is_anonymous', '=', true)
  return (await count(deletion)) > 0
}
