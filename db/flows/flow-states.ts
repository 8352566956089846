/**
 * Authorization code flows, and the codes that were exchanged: reuse revokes the session that was issued (RFC 6749
 * §4.1.2).
 */
import { type ExpressionBuilder, type Selectable, sql } from 'kysely'

import type { Database, Db, Trx } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import { executePipelined, type ParamOf } from '../core/statement.ts'
import type { ConsumedCodesTable, FlowStateTable } from '../tables/tokens.ts'

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

/** Issues the auth code of the user's newest flow of this method, or returns undefined when there is none. */
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

/** Returns the flow that issued this code. */
export function findFlowStateByCode(db: Db, authCode: string): Promise<FlowStateRow | undefined> {
  return db
    .selectFrom('flow_state')
    .select(flowStateColumns)
    .where('auth_code', '=', authCode)
    .where('auth_code_issued_at', 'is not', null)
    .where(isLinkingSessionValid)
    .executeTakeFirst()
}

/** Consumes the code of a flow. Returns false when it was consumed, or the flow deleted, before. */
export async function consumeFlowState(
  trx: Trx,
  { id, auth_code }: FlowStateRow,
): Promise<boolean> {
  const result = await trx
    .deleteFrom('flow_state')
    .where('id', '=', id)
    .where('auth_code', '=', auth_code)
    .where(isLinkingSessionValid)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/**
 * A linking flow ends with the session that started it: our row then has no session. Without a row of ours, GoTrue
 * started the flow.
 */
export function isLinkingSessionValid(eb: ExpressionBuilder<Database, 'flow_state'>) {
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

export async function deleteFlowState(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('flow_state').where('id', '=', id).execute()
}

/** Deletes the flows of a user, those that are to link something to them and the codes that were issued. */
export async function deleteFlowStates(trx: Trx, userId: string): Promise<void> {
  await trx.deleteFrom('flow_state').where(ofUser(userId)).execute()
}

/** As `deleteFlowStates`, but keeps flows whose email link was not opened yet: without the link they are useless. */
export async function deleteIssuedFlowStates(trx: Trx, userId: string): Promise<void> {
  await trx
    .deleteFrom('flow_state')
    .where(ofUser(userId))
    .where((eb) =>
      eb.or([eb('auth_code_issued_at', 'is not', null), eb('linking_target_id', '=', userId)]),
    )
    .execute()
}

const ofUser = (userId: string) => (eb: ExpressionBuilder<Database, 'flow_state'>) =>
  eb.or([eb('user_id', '=', userId), eb('linking_target_id', '=', userId)])

const insertRow = executePipelined((db, value: ParamOf<ConsumedCodesTable>) =>
  db.insertInto('postern_consumed_codes').values({
    code_hash: value('code_hash'),
    session_id: value('session_id'),
    code_challenge: value('code_challenge'),
    code_challenge_method: value('code_challenge_method'),
    consumed_at: value('consumed_at'),
  }),
)

export async function insertConsumedCode(trx: Trx, row: ConsumedCodesTable): Promise<void> {
  await insertRow(trx, row)
}

/** Returns the consumed code and its session, or undefined when it was not exchanged or the session has ended. */
export function findConsumedCode(trx: Trx, codeHash: string) {
  return trx
    .selectFrom('postern_consumed_codes')
    .innerJoin('sessions', 'sessions.id', 'postern_consumed_codes.session_id')
    .select(['session_id', 'user_id', 'code_challenge', 'code_challenge_method'])
    .where('code_hash', '=', codeHash)
    .executeTakeFirst()
}

export function deleteOldConsumedCodes(
  db: Db,
  consumedBefore: Date,
  limit: number,
): Promise<number> {
  const old = db
    .selectFrom('postern_consumed_codes')
    .select('code_hash')
    .where('consumed_at', '<', consumedBefore)
    .orderBy('consumed_at')
  return count(
    db.deleteFrom('postern_consumed_codes').where('code_hash', '=', whereChosen(old, limit)),
  )
}
