/** Consents of users to clients. */
import { sql } from 'kysely'

import type { Db, Trx } from '../core/database.ts'
import { epochMicroseconds, isBeforeRow, type RowCursor } from '../core/paging.ts'
import type { OauthConsentsTable } from '../tables/oauth-server.ts'

type Consent = Omit<OauthConsentsTable, 'revoked_at'>

/** The consent that was not revoked. */
export function findConsent(
  db: Db,
  userId: string,
  clientId: string,
): Promise<Consent | undefined> {
  return db
    .selectFrom('oauth_consents')
    .select(['id', 'user_id', 'client_id', 'scopes', 'granted_at'])
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
}

/** Replaces the granted scopes. */
export async function upsertConsent(
  trx: Trx,
  { userId, clientId, scopes }: { userId: string; clientId: string; scopes: string },
  now: Date,
): Promise<void> {
  await trx
    .insertInto('oauth_consents')
    .values({
      id: crypto.randomUUID(),
      user_id: userId,
      client_id: clientId,
      scopes,
      granted_at: now,
      revoked_at: null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'client_id'])
        .doUpdateSet({ scopes, granted_at: now, revoked_at: null }),
    )
    .execute()
}

/**
 * GoTrue's constraint requires it: `now` may have been read before the grant, or on a replica whose clock is behind.
 */
const notBeforeGrant = (now: Date) => sql<Date>`greatest(granted_at, ${now}::timestamptz)`

/** Revokes the consents of a user: those given after `since`, or all of them. */
export async function revokeConsents(
  trx: Trx,
  userId: string,
  since: Date | null,
  now: Date,
): Promise<void> {
  await trx
    .updateTable('oauth_consents')
    .set({ revoked_at: notBeforeGrant(now) })
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .$if(since !== null, (qb) => qb.where('granted_at', '>', since))
    .execute()
}

/** Revokes a consent; false when there is none. */
export async function revokeConsent(
  trx: Trx,
  userId: string,
  clientId: string,
  now: Date,
): Promise<boolean> {
  const result = await trx
    .updateTable('oauth_consents')
    .set({ revoked_at: notBeforeGrant(now) })
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Consents to existing clients, newest first. */
export function listConsents(db: Db, userId: string) {
  return db
    .selectFrom('oauth_consents')
    .innerJoin('oauth_clients', 'oauth_clients.id', 'oauth_consents.client_id')
    .leftJoin('postern_oauth_clients as details', 'details.client_id', 'oauth_clients.id')
    .select([
      'oauth_clients.id',
      'oauth_clients.client_name',
      'oauth_clients.client_uri',
      'oauth_clients.logo_uri',
      'details.document_url',
      'oauth_consents.scopes',
      'oauth_consents.granted_at',
    ])
    .where('oauth_consents.user_id', '=', userId)
    .where('oauth_consents.revoked_at', 'is', null)
    .where('oauth_clients.deleted_at', 'is', null)
    .orderBy('oauth_consents.granted_at', 'desc')
    .execute()
}

/** The consents to a client that were not revoked, newest first: those after a cursor, and one more. */
export function listConsentsOfClient(
  db: Db,
  clientId: string,
  after: RowCursor | undefined,
  size: number,
) {
  return db
    .selectFrom('oauth_consents')
    .innerJoin('users', 'users.id', 'oauth_consents.user_id')
    .select([
      'oauth_consents.id',
      'oauth_consents.user_id',
      'users.email',
      'oauth_consents.scopes',
      'oauth_consents.granted_at',
      epochMicroseconds('oauth_consents.granted_at').as('place'),
    ])
    .where('oauth_consents.client_id', '=', clientId)
    .where('oauth_consents.revoked_at', 'is', null)
    .$if(after !== undefined, (qb) =>
      after ? qb.where(isBeforeRow(after, 'oauth_consents.granted_at', 'oauth_consents.id')) : qb,
    )
    .orderBy('oauth_consents.granted_at', 'desc')
    .orderBy('oauth_consents.id', 'desc')
    .limit(size + 1)
    .execute()
}
