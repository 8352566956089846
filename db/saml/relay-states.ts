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

/** Returns and deletes the sign-in; undefined when it is unknown, or another response was first. */
export function consumeRelayState(db: Db, id: string): Promise<RelayStateRow | undefined> {
  return db.deleteFrom('saml_relay_states').where('id', '=', id).returningAll().executeTakeFirst()
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
