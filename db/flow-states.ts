import type { Generated, Selectable } from 'kysely'

import type { Db, Trx } from './database.ts'

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
  linking_target_id: string | null
  email_optional: Generated<boolean>
  /** Ours, encrypted: what an external sign-in keeps from its start for its callback. */
  postern_secrets: Generated<string | null>
}

export type FlowStateRow = Selectable<FlowStateTable>

const flowStateColumns = [
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
  'linking_target_id',
  'email_optional',
  'postern_secrets',
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
  linking_target_id?: string | null
  email_optional?: boolean
  auth_code_issued_at?: Date
  provider_access_token?: string
  provider_refresh_token?: string
  postern_secrets?: string
}

export async function insertFlowState(db: Db, state: NewFlowState, now: Date): Promise<void> {
  await db
    .insertInto('flow_state')
    .values({
      provider_access_token: '',
      provider_refresh_token: '',
      ...state,
      created_at: now,
      updated_at: now,
    })
    .execute()
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

/** The flow that issued this code, locked, so that a code is exchanged once. */
export function lockFlowStateByCode(trx: Trx, authCode: string): Promise<FlowStateRow | undefined> {
  return trx
    .selectFrom('flow_state')
    .select(flowStateColumns)
    .where('auth_code', '=', authCode)
    .where('auth_code_issued_at', 'is not', null)
    .forUpdate()
    .executeTakeFirst()
}

/** The external sign-in whose OAuth state this is, whatever has become of it. */
export function findExternalFlow(db: Db, state: string): Promise<FlowStateRow | undefined> {
  return db
    .selectFrom('flow_state')
    .select(flowStateColumns)
    .where('id', '=', state)
    .where('authentication_method', '=', 'oauth')
    .executeTakeFirst()
}

/** Spends the state of an external sign-in; false when another callback was first. */
export async function takeExternalFlow(db: Db, state: string): Promise<boolean> {
  const result = await db
    .deleteFrom('flow_state')
    .where('id', '=', state)
    .where('authentication_method', '=', 'oauth')
    .where('auth_code_issued_at', 'is', null)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

export async function deleteFlowState(trx: Trx, id: string): Promise<void> {
  await trx.deleteFrom('flow_state').where('id', '=', id).execute()
}
