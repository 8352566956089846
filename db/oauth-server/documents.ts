/** Clients described by a client ID metadata document. */
import { type QueryCreator, sql } from 'kysely'

import type { Database, Db } from '../core/database.ts'
import type { OauthClientSettings } from '../tables/oauth-server.ts'
import type { ClientValues } from './clients.ts'

/** The current content of a client's metadata document. */
interface StoredDocument extends Omit<ClientValues, 'settings'> {
  id: string
  url: string
  client_type: 'public' | 'confidential'
  settings: OauthClientSettings
  expiresAt: Date
}

/** Inserts or updates the client of a metadata document. A changed name or redirect URI requires a new consent. */
export async function upsertDocumentClient(
  db: Db,
  { id, url, client_type, settings, expiresAt, ...values }: StoredDocument,
  now: Date,
): Promise<void> {
  await db
    .with('before', (eb) =>
      eb.selectFrom('oauth_clients').select(['client_name', 'redirect_uris']).where('id', '=', id),
    )
    .with('client', (eb) => clientUpsert(eb, { ...values, id, client_type }, now))
    .insertInto('postern_oauth_clients')
    .columns(['client_id', 'settings', 'document_url', 'document_expires_at', 'reconsent_after'])
    .expression((eb) =>
      eb
        .selectFrom('client')
        .select([
          'client.id as client_id',
          sql`${JSON.stringify(settings)}::jsonb`.as('settings'),
          sql`${url}::text`.as('document_url'),
          sql`${expiresAt}::timestamptz`.as('document_expires_at'),
          sql`null::timestamptz`.as('reconsent_after'),
        ]),
    )
    .onConflict((conflict) =>
      conflict.column('client_id').doUpdateSet({
        settings: JSON.stringify(settings),
        document_expires_at: expiresAt,
        reconsent_after: sql`case when exists (select from before
            where client_name is distinct from ${values.client_name} or redirect_uris <> ${values.redirect_uris})
          then ${now}::timestamptz else postern_oauth_clients.reconsent_after end`,
      }),
    )
    .execute()
}

/** The row of GoTrue's table. */
function clientUpsert(
  db: QueryCreator<Database>,
  { id, client_type, ...values }: Omit<StoredDocument, 'url' | 'settings' | 'expiresAt'>,
  now: Date,
) {
  return db
    .insertInto('oauth_clients')
    .values({
      ...values,
      id,
      client_type,
      client_secret_hash: null,
      registration_type: 'dynamic',
      created_at: now,
      updated_at: now,
      deleted_at: null,
    })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet({ ...values, client_type, updated_at: now }),
    )
    .returning('id')
}
