/** Sign-ins through a provider, from the way there to the way back: the OAuth state is the id of the row. */
import { sql } from 'kysely'

import type { Db } from './database.ts'
import { type FlowStateRow, type FlowsTable, flowStateColumns, isAlive } from './flow-states.ts'

export type OauthFlowRow = FlowStateRow &
  Pick<FlowsTable, 'session_id' | 'secrets'> & {
    /** False for one that GoTrue began. */
    is_ours: boolean
    code_verifier: string | null
  }

/** The sign-in through a provider whose OAuth state this is, whatever has become of it. */
export function findOauthFlow(db: Db, state: string): Promise<OauthFlowRow | undefined> {
  return db
    .selectFrom('flow_state')
    .leftJoin('postern_flows', 'postern_flows.flow_id', 'flow_state.id')
    .select(flowStateColumns)
    .select(['postern_flows.session_id', 'postern_flows.secrets'])
    .select((eb) => [
      sql<boolean>`postern_flows.flow_id is not null`.as('is_ours'),
      eb
        .selectFrom('oauth_client_states')
        .select('code_verifier')
        .whereRef('oauth_client_states.id', '=', 'flow_state.oauth_client_state_id')
        .as('code_verifier'),
    ])
    .where('id', '=', state)
    .where('authentication_method', '=', 'oauth')
    .where(isAlive)
    .executeTakeFirst()
}

/** Spends the state of a sign-in through a provider; false when another callback was first. */
export async function takeOauthFlow(db: Db, state: string): Promise<boolean> {
  const taken = await db
    .with('taken', (eb) =>
      eb
        .deleteFrom('flow_state')
        .where('id', '=', state)
        .where('authentication_method', '=', 'oauth')
        .where('auth_code_issued_at', 'is', null)
        .where(isAlive)
        .returning('oauth_client_state_id'),
    )
    .with('verifier', (eb) =>
      eb
        .deleteFrom('oauth_client_states')
        .where('id', 'in', (of) => of.selectFrom('taken').select('taken.oauth_client_state_id')),
    )
    .selectFrom('taken')
    .select('taken.oauth_client_state_id')
    .executeTakeFirst()
  return taken !== undefined
}
