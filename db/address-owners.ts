/** Whose an address is: what an external sign-in is matched by. */
import { sql } from 'kysely'

import type { Db } from './database.ts'

/** Identities whose provider has verified one of these addresses. Served by identities_email_idx. */
export function findIdentityOwners(db: Db, emails: readonly string[], aud: string) {
  return db
    .selectFrom('identities')
    .innerJoin('users', 'users.id', 'identities.user_id')
    .select(['identities.user_id', 'identities.provider'])
    .where('identities.email', 'in', emails)
    .where(sql<boolean>`(identities.identity_data ->> 'email_verified') = 'true'`)
    .where('users.aud', '=', aud)
    .where('users.deleted_at', 'is', null)
    .execute()
}

/** People who sign in by one of these addresses themselves, confirmed or not. */
export function findAddressOwners(db: Db, emails: readonly string[], aud: string) {
  return db
    .selectFrom('users')
    .select(['id', 'email', 'email_confirmed_at'])
    .where('email', 'in', emails)
    .where('aud', '=', aud)
    .where('is_sso_user', '=', false)
    .execute()
}
