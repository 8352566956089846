/** Creates, changes and deletes clients. */
import type { Db, Trx } from '../../../db/core/database.ts'
import {
  findClientById,
  insertClient,
  lockClient,
  setClientSecret,
  softDeleteClient,
  updateClient,
} from '../../../db/oauth-server/clients.ts'
import {
  type ClientGrants,
  deleteAuthorizations,
  deleteClientSessions,
} from '../../../db/oauth-server/sessions.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { oauthClientNotFound, validationFailed } from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { type NewOauthClient, OauthClientChange } from '../../../schemas/oauth/client.ts'
import { type Client, toClient } from './client.ts'
import { readClientMetadata } from './metadata.ts'
import { checkSelfChosenName } from './names.ts'
import { hashClientSecret, makeSecret } from './secret.ts'

/** A client with its secrets, which are only shown now. */
export interface CreatedClient {
  client: Client
  secret: string | undefined
  /** For a dynamically registered client (RFC 7592 §3). */
  registrationToken: string | undefined
}

/** Creates a client. Throws invalid_client_metadata or invalid_redirect_uri. */
export async function createClient(
  deps: Deps<'config'>,
  db: Db,
  fields: NewOauthClient,
  registration: 'dynamic' | 'manual',
  now: Date,
): Promise<CreatedClient> {
  const { values, authMethod, type } = readClientMetadata(deps, fields)
  if (registration === 'dynamic') await checkSelfChosenName(db, fields.client_name)
  const secret = authMethod.startsWith('client_secret') ? makeSecret() : undefined
  const registrationToken = registration === 'dynamic' ? makeSecret() : undefined
  const id = crypto.randomUUID()
  const stored = {
    ...values,
    id,
    client_type: type,
    registration_type: registration,
    client_secret_hash: secret === undefined ? null : hashClientSecret(secret),
    registration_token_hash:
      registrationToken === undefined ? null : hashClientSecret(registrationToken),
    document_url: null,
    document_expires_at: null,
  }
  await insertClient(db, stored, now)
  return { client: await getClient(db, id), secret, registrationToken }
}

/** Parses the id of a path. Throws validation_failed. */
export function readClientId(text: string): string {
  if (!isUuid(text)) throw validationFailed('client_id must be an UUID')
  return text.toLowerCase()
}

/** Throws oauth_client_not_found. */
export async function getClient(db: Db, id: string): Promise<Client> {
  const row = await findClientById(db, id)
  if (!row) throw oauthClientNotFound()
  return toClient(row)
}

/** Locks a client for a change. Throws oauth_client_not_found. */
export async function lockAndGetClient(trx: Trx, id: string): Promise<Client> {
  if (!(await lockClient(trx, id))) throw oauthClientNotFound()
  return getClient(trx, id)
}

/** Changes the given fields. Throws validation_failed, and the errors of `createClient`. */
export async function changeClient(
  deps: Deps<'config'>,
  trx: Trx,
  before: Client,
  sent: OauthClientChange,
  now: Date,
): Promise<Client> {
  // Unknown fields are ignored, and do not count as a change.
  const known = Object.entries(sent).filter(([name]) => name in OauthClientChange.properties)
  const change: OauthClientChange = Object.fromEntries(known)
  if (known.length === 0) {
    throw validationFailed('Send at least one field to change')
  }
  if (before.isDocument) {
    throw validationFailed(
      'This client is described by the document at its client_id: change it there',
    )
  }
  const fields = { ...toFields(before), ...change, client_type: before.type }
  const { values } = readClientMetadata(deps, fields)
  await updateClient(trx, before.id, values, now)
  return getClient(trx, before.id)
}

/** The client in the form of a registration. */
function toFields(client: Client): NewOauthClient {
  return {
    ...client.settings,
    redirect_uris: client.redirectUris,
    grant_types: client.grantTypes,
    token_endpoint_auth_method: client.authMethod,
    ...(client.name && { client_name: client.name }),
    ...(client.uri && { client_uri: client.uri }),
    ...(client.logoUri && { logo_uri: client.logoUri }),
  }
}

/** Replaces the secret; the old one is invalid immediately. Throws validation_failed. */
export async function regenerateSecret(trx: Trx, client: Client, now: Date): Promise<string> {
  if (!client.authMethod.startsWith('client_secret')) {
    throw validationFailed('This client has no secret: it is public, or signs with its own key')
  }
  const secret = makeSecret()
  await setClientSecret(trx, client.id, hashClientSecret(secret), now)
  return secret
}

/** The part of events that reports revoked sessions. */
interface EndDeps {
  events: Pick<Deps<'events'>['events'], 'draft' | 'write'>
}

/** Deletes a client with its requests, codes and sessions. */
export async function deleteClient(
  deps: EndDeps,
  trx: Trx,
  client: Client,
  now: Date,
): Promise<void> {
  await softDeleteClient(trx, client.id, now)
  await endClientSessions(deps, trx, { client_id: client.id }, now)
}

/** Revokes every session and deletes every request and code of a client, or those of one user. */
export async function endClientSessions(
  { events }: EndDeps,
  trx: Trx,
  of: ClientGrants,
  now: Date,
): Promise<void> {
  await deleteAuthorizations(trx, of)
  const ended = await deleteClientSessions(trx, of)
  const drafts = ended.flatMap(({ id, user_id }) =>
    events.draft('session.revoked', user_id, { session_id: id }),
  )
  await events.write(trx, drafts, now)
}
