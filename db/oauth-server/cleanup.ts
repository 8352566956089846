import { sql } from 'kysely'

import type { Db } from '../core/database.ts'
import { count, whereChosen } from '../core/paging.ts'

/** Deletes authorization requests, with their codes. */
export function deleteOldAuthorizations(db: Db, before: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('oauth_authorizations')
    .select('id')
    .where('expires_at', '<', before)
    .orderBy('expires_at')
  return count(db.deleteFrom('oauth_authorizations').where('id', '=', whereChosen(old, limit)))
}

/** Deletes pushed authorization requests. */
export function deleteOldPushedRequests(db: Db, before: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_oauth_pushed_requests')
    .select('id')
    .where('expires_at', '<', before)
    .orderBy('expires_at')
  return count(
    db.deleteFrom('postern_oauth_pushed_requests').where('id', '=', whereChosen(old, limit)),
  )
}

/** Deletes device codes. */
export function deleteOldDeviceCodes(db: Db, before: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_oauth_device_codes')
    .select('id')
    .where('expires_at', '<', before)
    .orderBy('expires_at')
  return count(
    db.deleteFrom('postern_oauth_device_codes').where('id', '=', whereChosen(old, limit)),
  )
}

/** Deletes sessions of the hosted pages; the session that each refers to is kept. */
export function deleteOldPageSessions(db: Db, before: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_page_sessions')
    .select('id')
    .where('expires_at', '<', before)
    .orderBy('expires_at')
  return count(db.deleteFrom('postern_page_sessions').where('id', '=', whereChosen(old, limit)))
}

/** Deletes answers of submitted forms. */
export function deleteOldPageSubmissions(db: Db, before: Date, limit: number): Promise<number> {
  const old = db
    .selectFrom('postern_page_submissions')
    .select('slot')
    .where('expires_at', '<', before)
    .orderBy('expires_at')
  return count(
    db.deleteFrom('postern_page_submissions').where('slot', '=', whereChosen(old, limit)),
  )
}

/** Deletes registered clients that were not used since. */
export function deleteUnusedClients(db: Db, before: Date, limit: number): Promise<number> {
  return count(db.deleteFrom('oauth_clients').where('id', 'in', selectUnused(db, before, limit)))
}

/**
 * Deletes registered clients to which no user consented, or is about to, and that were not used or registered again
 * since.
 */
export function deleteUngrantedClients(db: Db, before: Date, limit: number): Promise<number> {
  const tables = ['oauth_consents', 'oauth_authorizations', 'postern_oauth_device_codes'] as const
  const ungranted = selectUnused(db, before, limit).where((eb) =>
    eb.and(
      tables.map((table) => {
        const rows = eb.selectFrom(table).select(sql`1`.as('one'))
        return eb.not(
          eb.exists(rows.where(sql.ref(`${table}.client_id`), '=', sql.ref('oauth_clients.id'))),
        )
      }),
    ),
  )
  return count(db.deleteFrom('oauth_clients').where('id', 'in', ungranted))
}

function selectUnused(db: Db, before: Date, limit: number) {
  return db
    .selectFrom('oauth_clients')
    .leftJoin('postern_oauth_clients as details', 'details.client_id', 'oauth_clients.id')
    .select('oauth_clients.id')
    .where('oauth_clients.registration_type', '=', 'dynamic')
    .where('oauth_clients.created_at', '<', before)
    .where((eb) =>
      eb.or([eb('details.last_used_at', 'is', null), eb('details.last_used_at', '<', before)]),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('sessions')
            .select('sessions.id')
            .whereRef('sessions.oauth_client_id', '=', 'oauth_clients.id'),
        ),
      ),
    )
    .orderBy('oauth_clients.created_at')
    .limit(limit)
}
