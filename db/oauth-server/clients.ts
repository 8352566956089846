/** OAuth clients: GoTrue's row and our details, with their last use. */
import type { Db, Trx } from '../core/database.ts'
import { lockName } from '../core/locks.ts'
import { type ParamOf, queryOne } from '../core/statement.ts'
import type { OauthClientSettings, OauthClientsTable } from '../tables/oauth-server.ts'

const columns = [
  'oauth_clients.id',
  'oauth_clients.client_secret_hash',
  'oauth_clients.registration_type',
  'oauth_clients.redirect_uris',
  'oauth_clients.grant_types',
  'oauth_clients.client_name',
  'oauth_clients.client_uri',
  'oauth_clients.logo_uri',
  'oauth_clients.created_at',
  'oauth_clients.updated_at',
  'oauth_clients.client_type',
  'oauth_clients.token_endpoint_auth_method',
] as const

const details = [
  'details.settings',
  'details.document_url',
  'details.document_expires_at',
  'details.reconsent_after',
  'details.registration_token_hash',
] as const

export type ClientRow = Omit<OauthClientsTable, 'deleted_at'> & {
  settings: OauthClientSettings | null
  document_url: string | null
  document_expires_at: Date | null
  reconsent_after: Date | null
  registration_token_hash: string | null
}

/** The stored fields of a client that is created or changed. */
export type ClientValues = Pick<
  OauthClientsTable,
  | 'redirect_uris'
  | 'grant_types'
  | 'client_name'
  | 'client_uri'
  | 'logo_uri'
  | 'token_endpoint_auth_method'
> & { settings: OauthClientSettings }

/** A new client. */
type NewClient = ClientValues &
  Pick<OauthClientsTable, 'id' | 'client_secret_hash' | 'registration_type' | 'client_type'> & {
    document_url: string | null
    document_expires_at: Date | null
    registration_token_hash: string | null
    metadata_hash: string | null
  }

const selectClients = (db: Db) =>
  db
    .selectFrom('oauth_clients')
    .leftJoin('postern_oauth_clients as details', 'details.client_id', 'oauth_clients.id')
    .select([...columns, ...details])
    .where('oauth_clients.deleted_at', 'is', null)

const findById = queryOne((db, value: ParamOf<{ id: string }>) =>
  selectClients(db).where('oauth_clients.id', '=', value('id')),
)

/** A client by the id of its row. */
export function findClientById(db: Db, id: string): Promise<ClientRow | undefined> {
  return findById(db, { id })
}

const findByUrl = queryOne((db, value: ParamOf<{ url: string }>) =>
  selectClients(db).where('details.document_url', '=', value('url')),
)

/** A client by the URL of its metadata document. */
export function findClientByUrl(db: Db, url: string): Promise<ClientRow | undefined> {
  return findByUrl(db, { url })
}

/**
 * The client that registered itself with this metadata. Registrations of the same metadata are serialized until the
 * transaction ends.
 */
export async function lockAndFindRegistration(
  trx: Trx,
  metadataHash: string,
): Promise<ClientRow | undefined> {
  await lockName(trx, JSON.stringify(['oauth registration', metadataHash]))
  return selectClients(trx).where('details.metadata_hash', '=', metadataHash).executeTakeFirst()
}

interface ListedClients {
  clients: ClientRow[]
  total: number
}

/** Newest first. */
export async function listClients(
  db: Db,
  { limit, offset }: { limit: number; offset: number },
): Promise<ListedClients> {
  const [clients, { total }] = await Promise.all([
    selectClients(db)
      .orderBy('oauth_clients.created_at', 'desc')
      .orderBy('oauth_clients.id')
      .limit(limit)
      .offset(offset)
      .execute(),
    db
      .selectFrom('oauth_clients')
      .select((eb) => eb.fn.countAll<string>().as('total'))
      .where('deleted_at', 'is', null)
      .executeTakeFirstOrThrow(),
  ])
  return { clients, total: Number(total) }
}

/** A client and its details. */
export async function insertClient(db: Db, client: NewClient, now: Date): Promise<void> {
  const { settings, document_url, document_expires_at, registration_token_hash, ...rest } = client
  const { metadata_hash, ...row } = rest
  await db
    .with('client', (eb) =>
      eb
        .insertInto('oauth_clients')
        .values({ ...row, created_at: now, updated_at: now, deleted_at: null }),
    )
    .insertInto('postern_oauth_clients')
    .values({
      client_id: row.id,
      settings: JSON.stringify(settings),
      document_url,
      document_expires_at,
      registration_token_hash,
      reconsent_after: null,
      last_used_at: null,
      metadata_hash,
    })
    .execute()
}

/**
 * Locks a client against change and deletion until the transaction ends. Sessions may still be created: their exchange
 * has locked a code that the caller may delete, so waiting for it could deadlock.
 */
export async function lockClient(trx: Db, id: string): Promise<boolean> {
  const row = await trx
    .selectFrom('oauth_clients')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** `asksAgain`: consents from before are requested again. */
export async function updateClient(
  db: Db,
  id: string,
  { settings, asksAgain, ...values }: ClientValues & { asksAgain: boolean },
  now: Date,
): Promise<void> {
  const reconsent = asksAgain ? { reconsent_after: now } : {}
  await db
    .with('client', (eb) =>
      eb
        .updateTable('oauth_clients')
        .set({ ...values, updated_at: now })
        .where('id', '=', id),
    )
    .insertInto('postern_oauth_clients')
    .values({
      client_id: id,
      settings: JSON.stringify(settings),
      document_url: null,
      document_expires_at: null,
      registration_token_hash: null,
      reconsent_after: null,
      last_used_at: null,
      ...reconsent,
    })
    .onConflict((conflict) =>
      conflict
        .column('client_id')
        .doUpdateSet({ settings: JSON.stringify(settings), metadata_hash: null, ...reconsent }),
    )
    .execute()
}

/** A new secret, or a new registration access token. */
export async function setClientSecret(db: Db, id: string, hash: string, now: Date): Promise<void> {
  await db
    .updateTable('oauth_clients')
    .set({ client_secret_hash: hash, updated_at: now })
    .where('id', '=', id)
    .execute()
}

/** Marks the client as deleted, as GoTrue does. */
export async function softDeleteClient(db: Db, id: string, now: Date): Promise<void> {
  await db.updateTable('oauth_clients').set({ deleted_at: now }).where('id', '=', id).execute()
}

/** The names of clients that the operator created. */
export async function listVerifiedNames(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('oauth_clients')
    .select('client_name')
    .where('registration_type', '=', 'manual')
    .where('deleted_at', 'is', null)
    .where('client_name', 'is not', null)
    .execute()
  return rows.flatMap(({ client_name: name }) => name ?? [])
}

/** Recorded at most once a day, because unused registrations are deleted. */
export async function touchClient(db: Db, id: string, now: Date): Promise<void> {
  const writtenBefore = new Date(now.getTime() - 3_600_000)
  await db
    .insertInto('postern_oauth_clients')
    .values({
      client_id: id,
      settings: '{}',
      document_url: null,
      document_expires_at: null,
      registration_token_hash: null,
      reconsent_after: null,
      last_used_at: now,
    })
    .onConflict((conflict) =>
      conflict
        .column('client_id')
        .doUpdateSet({ last_used_at: now })
        .where((eb) =>
          eb.or([
            eb('postern_oauth_clients.last_used_at', 'is', null),
            eb('postern_oauth_clients.last_used_at', '<', writtenBefore),
          ]),
        ),
    )
    .execute()
}
