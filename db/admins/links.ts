/** One-time links by which a user becomes an admin; only the hash of each token is stored. */
import { lockName } from '../core/advisory-lock.ts'
import type { Db, Trx } from '../core/database.ts'
import type { AdminLinksTable } from '../tables/admins.ts'

export type AdminLink = Pick<AdminLinksTable, 'email' | 'role'>

/** Also removes links that have expired. */
export async function insertAdminLink(db: Db, link: AdminLinksTable): Promise<void> {
  await db
    .with('expired', (cte) =>
      cte.deleteFrom('postern_admin_links').where('expires_at', '<=', link.created_at),
    )
    .insertInto('postern_admin_links')
    .values(link)
    .execute()
}

export function findAdminLink(db: Db, hash: string, now: Date): Promise<AdminLink | undefined> {
  return db
    .selectFrom('postern_admin_links')
    .select(['email', 'role'])
    .where('token_hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

/** Returns and deletes the link, for the transaction that consumes it. */
export function consumeAdminLink(
  trx: Trx,
  hash: string,
  now: Date,
): Promise<AdminLink | undefined> {
  return trx
    .deleteFrom('postern_admin_links')
    .where('token_hash', '=', hash)
    .where('expires_at', '>', now)
    .returning(['email', 'role'])
    .executeTakeFirst()
}

/** Unused links that this admin made. */
export async function deleteAdminLinksBy(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom('postern_admin_links').where('created_by', '=', userId).execute()
}

/** Links for the first admin, which name no address, and those to the address of a new admin. */
export async function deleteAdminLinksFor(trx: Trx, email: string | null): Promise<void> {
  await trx
    .deleteFrom('postern_admin_links')
    .where((eb) => eb.or([eb('email', 'is', null), eb('email', '=', email)]))
    .execute()
}

/** Transactions that make the first admin run one after another. */
export async function lockFirstAdmin(trx: Trx): Promise<void> {
  await lockName(trx, 'postern_admins')
}
