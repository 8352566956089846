/** State of sign-ins with a provider: the OAuth `state` is the id of the row. */
import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import type { FlowsTable } from '../tables/tokens.ts'
import {
  type FlowStateRow,
  flowStateColumns,
  flowStateInsert,
  isLinkingSessionValid,
  type NewFlowState,
} from './flow-states.ts'
export type OauthFlowRow = FlowStateRow &
  Pick<FlowsTable, 'session_id' | 'secrets'> & {
    /** False for a flow that GoTrue started. */
    is_ours: boolean
    code_verifier: string | null
  }

/** Returns the flow of an OAuth state, consumed or not. */
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
    .where(isLinkingSessionValid)
    .executeTakeFirst()
}

/** Consumes the state of a flow. Returns false when another callback did before. */
export async function consumeOauthState(db: Db, state: string): Promise<boolean> {
  const taken = await db
    .with('taken', (eb) =>
      eb
        .deleteFrom('flow_state')
        .where('id', '=', state)
        .where('authentication_method', '=', 'oauth')
        .where('auth_code_issued_at', 'is', null)
        .where(isLinkingSessionValid)
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

/**
 * Inserts the flow and our encrypted part. A foreign key fails when the session has ended. A code verifier is stored
 * where GoTrue may complete the flow.
 */
export async function insertOwnedFlow(
  db: Db,
  state: NewFlowState,
  owned: Pick<FlowsTable, 'session_id' | 'secrets'>,
  now: Date,
  codeVerifier?: string,
): Promise<void> {
  const { id, provider_type } = state
  // Uses the id of the flow, which is unique there.
  const verifier = codeVerifier && { id, provider_type, code_verifier: codeVerifier }
  if (verifier) {
    await db
      .insertInto('oauth_client_states')
      .values({ ...verifier, created_at: now })
      .execute()
  }
  const begun = verifier ? { ...state, oauth_client_state_id: id } : state
  await db
    .with('started', (eb) => flowStateInsert(eb, begun, now))
    .insertInto('postern_flows')
    .values({ flow_id: state.id, ...owned })
    .execute()
}
