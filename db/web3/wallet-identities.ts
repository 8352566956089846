import { sql } from 'kysely'

import type { Db } from '../core/database.ts'

/**
 * Returns the id of the wallet's identity regardless of letter case: GoTrue stores an address as it was typed, so that
 * its database may have two spellings. An exact match comes first, then the oldest.
 */
export async function findWalletIdentity(db: Db, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('identities')
    .select('provider_id')
    .where('provider', '=', sql.lit('web3'))
    .where(sql<boolean>`lower(provider_id) = lower(${id})`)
    .orderBy(sql`provider_id = ${id}`, 'desc')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.provider_id
}
