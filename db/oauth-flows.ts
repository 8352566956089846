/** Sign-ins through a provider, from the way there to the way back: the OAuth state is the id of the row. */
import type { Db } from './database.ts'
import { type FlowStateRow, type FlowsTable, flowStateColumns, isAlive } from './flow-states.ts'

export type OauthFlowRow = FlowStateRow & Pick<FlowsTable, 'session_id' | 'secrets'>

/** The sign-in through a provider whose OAuth state this is, whatever has become of it. */
export function findOauthFlow(db: Db, state: string): Promise<OauthFlowRow | undefined> {
  return db
    .selectFrom('flow_state')
    .leftJoin('postern_flows', 'postern_flows.flow_id', 'flow_state.id')
    .select(flowStateColumns)
    .select(['postern_flows.session_id', 'postern_flows.secrets'])
    .where('id', '=', state)
    .where('authentication_method', '=', 'oauth')
    .where(isAlive)
    .executeTakeFirst()
}

/** Spends the state of a sign-in through a provider; false when another callback was first. */
export async function takeOauthFlow(db: Db, state: string): Promise<boolean> {
  const result = await db
    .deleteFrom('flow_state')
    .where('id', '=', state)
    .where('authentication_method', '=', 'oauth')
    .where('auth_code_issued_at', 'is', null)
    .where(isAlive)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}
