/** Sign-ins through a provider, from the way there to the way back: the OAuth state is the id of the row. */
import { sql } from 'kysely'

import type { Db } from './database.ts'
import {
  type FlowStateRow,
  type FlowsTable,
  flowStateColumns,
  flowStateInsert,
  isAlive,
  type NewFlowState,
} from './flow-states.ts'

/** The PKCE verifiers of sign-ins in which the server is the client, in clear, as GoTrue keeps them. */
export interface OauthClientStatesTable {
  id: string
  provider_type: string
  code_verifier: string | null
  created_at: Date
}

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

/**
 * The flow with what is ours of it. A foreign key fails when the session has ended. A verifier is given where GoTrue may
 * end the flow.
 */
export async function insertOwnedFlow(
  db: Db,
  state: NewFlowState,
  owned: Pick<FlowsTable, 'session_id' | 'secrets'>,
  now: Date,
  codeVerifier?: string,
): Promise<void> {
  const { id, provider_type } = state
  // Under the id of the flow, which nothing else there has.
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
