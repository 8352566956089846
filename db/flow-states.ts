import { type ExpressionBuilder, type Generated, type Selectable, sql } from 'kysely'

import type { Database, Db, Trx } from './database.ts'

/** One authorization-code flow (RFC 7636) in progress, by mail or through an external provider. */
export interface FlowStateTable {
  id: string
  user_id: string | null
  auth_code: string | null
  code_challenge_method: 's256' | 'plain' | null
  code_challenge: string | null
  provider_type: string
  provider_access_token: Generated<string | null>
  provider_refresh_token: Generated<string | null>
  created_at: Date | null
  updated_at: Date | null
  authentication_method: string
  auth_code_issued_at: Date | null
  invite_token: string | null
  referrer: string | null
  /** The PKCE verifier of the provider's side, in oauth_client_states: of a flow that GoTrue began, or may end. */
  oauth_client_state_id: string | null
  linking_target_id: string | null
  email_optional: Generated<boolean>
}

/** What a flow has beyond GoTrue's columns. */
export interface FlowsTable {
  flow_id: string
  /** The session that began it, with which it ends; null when none did. */
  session_id: string | null
  /** Encrypted: what an external sign-in keeps from its start for its callback. */
  secrets: string | null
}

export type FlowStateRow = Selectable<FlowStateTable>

export const flowStateColumns = [
  'id',
  'user_id',
  'auth_code',
  'code_challenge_method',
  'code_challenge',
  'provider_type',
  'provider_access_token',
  'provider_refresh_token',
  'created_at',
  'updated_at',
  'authentication_method',
  'auth_code_issued_at',
  'invite_token',
  'referrer',
  'oauth_client_state_id',
  'linking_target_id',
  'email_optional',
] as const

export interface NewFlowState {
  id: string
  user_id: string | null
  auth_code: string | null
  code_challenge_method: 's256' | 'plain' | null
  code_challenge: string | null
  provider_type: string
  authentication_method: string
  referrer?: string | null
  invite_token?: string | null
  oauth_client_state_id?: string | null
  linking_target_id?: string | null
  email_optional?: boolean
  auth_code_issued_at?: Date
  provider_access_token?: string
  provider_refresh_token?: string
}

export async function insertFlowState(db: Db, state: NewFlowState, now: Date): Promise<void> {
  await flowStateInsert(db, state, now).execute()
}

export function flowStateInsert(db: Pick<Db, 'insertInto'>, state: NewFlowState, now: Date) {
  return db.insertInto('flow_state').values({
    provider_access_token: '',
    provider_refresh_token: '',
    ...state,
    created_at: now,
    updated_at: now,
  })
}

/** Issues the code of the person's newest flow of this method; undefined when there is none. */
export async function issueAuthCode(
  trx: Trx,
  userId: string,
  method: string,
  authCode: string,
  now: Date,
): Promise<string | undefined> {
  const row = await trx
    .updateTable('flow_state')
    .set({ auth_code: authCode, auth_code_issued_at: now, updated_at: now })
    .where('id', '=', (eb) =>
      eb
        .selectFrom('flow_state')
        .select('id')
        .where('user_id', '=', userId)
        .where('authentication_method', '=', method)
        .orderBy('created_at', 'desc')
        .limit(1),
    )
    .returning('auth_code')
    .executeTakeFirst()
  return row?.auth_code ?? undefined
}

/** The flow that issued this code. */
export function findFlowStateByCode(db: Db, authCode: string): Promise<FlowStateRow | undefined> {
  return db
    .selectFrom('flow_state')
    .select(flowStateColumns)
    .where('auth_code', '=', authCode)
    .where('auth_code_issued_at', 'is not', null)
    .where(isAlive)
    .executeTakeFirst()
}

/** Spends the code of a flow; false when it was spent, or its flow ended, meanwhile. */
export async function takeFlowState(trx: Trx, { id, auth_code }: FlowStateRow): Promise<boolean> {
  const result = await trx
    .deleteFrom('flow_state')
    .where('id', '=', id)
    .where('auth_code', '=', auth_code)
    .where(isAlive)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/**
 * A flow by which an identity is linked lives no longer than the session that began it, whose end empties our row. Without
 * such a row, GoTrue began it.
 */
export function isAlive(eb: ExpressionBuilder<Database, 'flow_state'>) {
  return eb.or([
    eb('flow_state.linking_target_id', 'is', null),
    eb.not(
      eb.exists(
        eb
          .selectFrom('postern_flows')
          .select(sql`1`.as('one'))
          .whereRef('postern_flows.flow_id', '=', 'flow_state.id')
          .where('postern_flows.session_id', 'is', null),
      ),
    ),
  ])
}

/** Deletes the flows of a person, those that are to link something to them and the codes that were issued. */
export async function deleteFlowStates(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom('flow_state').where(ofPerson(userId)).execute()
}

/** As `deleteFlowStates`, but flows that wait for a mailed link to be opened stay. */
export async function deleteAnsweredFlowStates(trx: Trx, userId: string): Promise<void> {
  await trx
    .deleteFrom('flow_state')
    .where(ofPerson(userId))
    .where((eb) =>
      eb.or([eb('auth_code_issued_at', 'is not', null), eb('linking_target_id', '=', userId)]),
    )
    .execute()
}

const ofPerson = (userId: string) => (eb: ExpressionBuilder<Database, 'flow_state'>) =>
  eb.or([eb('user_id', '=', userId), eb('linking_target_id', '=', userId)])
