/** Open sign-ins at SAML identity providers. */
import type { Selectable } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import type { SamlRelayStatesTable } from '../tables/saml.ts'

export type RelayStateRow = Selectable<SamlRelayStatesTable>

export async function insertRelayState(
  trx: Trx,
  state: Pick<
    RelayStateRow,
    'id' | 'sso_provider_id' | 'request_id' | 'redirect_to' | 'flow_state_id'
  >,
  now: Date,
): Promise<void> {
  await trx
    .insertInto('saml_relay_states')
    .values({ ...state, for_email: null, created_at: now, updated_at: now })
    .execute()
}

export function findRelayState(db: Db, id: string): Promise<RelayStateRow | undefined> {
  return db.selectFrom('saml_relay_states').selectAll().where('id', '=', id).executeTakeFirst()
}

/**
 * Returns and deletes the sign-in; undefined when it is unknown, another response was first, or `browserHash` is given
 * and not that of its browser.
 */
export function consumeRelayState(
  db: Db,
  id: string,
  browserHash: string | undefined,
): Promise<RelayStateRow | undefined> {
  return db
    .deleteFrom('saml_relay_states')
    .where('id', '=', id)
    .$if(browserHash !== undefined, (query) =>
      query.where((eb) =>
        eb.exists(
          eb
            .selectFrom('postern_saml_browsers')
            .whereRef('relay_state_id', '=', 'saml_relay_states.id')
            .where('browser_hash', '=', browserHash ?? ''),
        ),
      ),
    )
    .returningAll()
    .executeTakeFirst()
}

/** Binds the sign-in to a browser; false when it is bound already. */
export async function bindRelayState(db: Db, id: string, browser_hash: string): Promise<boolean> {
  const result = await db
    .insertInto('postern_saml_browsers')
    .values({ relay_state_id: id, browser_hash })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Whether the sign-in is bound to this browser. */
export async function isBoundTo(db: Db, id: string, browserHash: string): Promise<boolean> {
  const row = await db
    .selectFrom('postern_saml_browsers')
    .select('relay_state_id')
    .where('relay_state_id', '=', id)
    .where('browser_hash', '=', browserHash)
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes abandoned sign-ins. */
export function deleteOldRelayStates(db: Db, startedBefore: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('saml_relay_states')
    .select('id')
    .where('created_at', '<', startedBefore)
    .orderBy('created_at')
  return count(db.deleteFrom('saml_relay_states').where('id', '=', whereChosen(old, limit)))
}
