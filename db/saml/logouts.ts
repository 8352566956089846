/** Logouts that were sent to an identity provider. */
import type { Selectable } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import type { SamlLogoutsTable } from '../tables/saml.ts'

export type SamlLogoutRow = Selectable<SamlLogoutsTable>

export async function insertSamlLogout(trx: Trx, logout: SamlLogoutRow): Promise<void> {
  await trx.insertInto('postern_saml_logouts').values(logout).execute()
}

export function findSamlLogout(db: Db, id: string): Promise<SamlLogoutRow | undefined> {
  return db.selectFrom('postern_saml_logouts').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Returns and deletes the logout; undefined when it is unknown, or another response was first. */
export function consumeSamlLogout(db: Db, id: string): Promise<SamlLogoutRow | undefined> {
  return db
    .deleteFrom('postern_saml_logouts')
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
}

/** Deletes logouts whose user did not return. */
export function deleteOldSamlLogouts(db: Db, startedBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_saml_logouts')
    .select('id')
    .where('created_at', '<', startedBefore)
    .orderBy('created_at')
  return count(db.deleteFrom('postern_saml_logouts').where('id', '=', whereChosen(old, limit)))
}
