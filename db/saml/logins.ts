/**
 * Sign-ins by SAML as their provider knows them, by NameID and session index (SAML 2.0 Core §3.7), and the logouts that
 * were sent to it.
 */
import type { Selectable } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'
import { executePipelined, type ParamOf } from '../core/statement.ts'
import type { SamlLoginsTable, SamlLogoutsTable } from '../tables/saml.ts'

export type SamlLogin = Selectable<SamlLoginsTable>

const columns = [
  'id',
  'sso_provider_id',
  'user_id',
  'flow_id',
  'session_id',
  'name_id',
  'name_id_format',
  'name_qualifier',
  'sp_name_qualifier',
  'session_index',
  'session_end',
] as const

export const insertSamlLogin = executePipelined((db, value: ParamOf<SamlLogin>) =>
  db.insertInto('postern_saml_logins').values({
    id: value('id'),
    sso_provider_id: value('sso_provider_id'),
    user_id: value('user_id'),
    flow_id: value('flow_id'),
    session_id: value('session_id'),
    name_id: value('name_id'),
    name_id_format: value('name_id_format'),
    name_qualifier: value('name_qualifier'),
    sp_name_qualifier: value('sp_name_qualifier'),
    session_index: value('session_index'),
    session_end: value('session_end'),
  }),
)

/** The sign-in of a client that has not exchanged its code yet. */
export function findSamlLoginOfFlow(db: Db, flowId: string): Promise<SamlLogin | undefined> {
  return db
    .selectFrom('postern_saml_logins')
    .select(columns)
    .where('flow_id', '=', flowId)
    .executeTakeFirst()
}

export function findSamlLoginOfSession(db: Db, sessionId: string): Promise<SamlLogin | undefined> {
  return db
    .selectFrom('postern_saml_logins')
    .select(columns)
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
}

export interface SamlPrincipal {
  sso_provider_id: string
  name_id: string
  /** The sessions that end at the provider; all of them when empty. */
  sessionIndexes: readonly string[]
}

/** Sign-ins that end with those sessions at the provider, also those without a session index. */
export function listSamlLogins(
  trx: Trx,
  { sso_provider_id, name_id, sessionIndexes }: SamlPrincipal,
): Promise<SamlLogin[]> {
  return trx
    .selectFrom('postern_saml_logins')
    .select(columns)
    .where('sso_provider_id', '=', sso_provider_id)
    .where('name_id', '=', name_id)
    .$if(sessionIndexes.length > 0, (query) =>
      query.where((eb) =>
        eb.or([eb('session_index', 'is', null), eb('session_index', 'in', sessionIndexes)]),
      ),
    )
    .orderBy('user_id')
    .execute()
}

export function listSamlLoginsOfUser(
  trx: Trx,
  { sso_provider_id, user_id }: Pick<SamlLogin, 'sso_provider_id' | 'user_id'>,
): Promise<SamlLogin[]> {
  return trx
    .selectFrom('postern_saml_logins')
    .select(columns)
    .where('user_id', '=', user_id)
    .where('sso_provider_id', '=', sso_provider_id)
    .execute()
}

interface SamlCode {
  id: string
  userId: string
  code: string
}

/** Issues the auth code of a flow. Returns false when the flow was deleted. */
export async function issueSamlCode(
  trx: Trx,
  { id, userId, code }: SamlCode,
  now: Date,
): Promise<boolean> {
  const result = await trx
    .updateTable('flow_state')
    .set({ user_id: userId, auth_code: code, auth_code_issued_at: now, updated_at: now })
    .where('id', '=', id)
    .where('auth_code_issued_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

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
