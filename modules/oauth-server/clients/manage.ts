/** Creates, changes and deletes clients. */
import { isDeepStrictEqual } from 'node:util'

import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import {
  type ClientValues,
  findClientById,
  insertClient,
  lockAndFindRegistration,
  lockClient,
  setClientSecret,
  softDeleteClient,
  touchClient,
  updateClient,
} from '../../../db/oauth-server/clients.ts'
import {
  type ClientGrants,
  deleteAuthorizations,
  deleteClientSessions,
} from '../../../db/oauth-server/sessions.ts'
import { oauthClientNotFound, validationFailed } from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { type NewOauthClient, OauthClientChange } from '../../../schemas/oauth/client.ts'
import type { EventWriter } from '../../sessions/index.ts'
import {
  type AuthMethod,
  type Client,
  hashClientSecret,
  joinList,
  makeSecret,
  toClient,
} from './client.ts'
import { readClientMetadata } from './metadata.ts'
import { checkSelfChosenName } from './names.ts'

/** A client with its secrets, which are only shown now. */
export interface CreatedClient {
  client: Client
  /** A client registered the same before, and both share the row. */
  isKnown: boolean
  secret: string | undefined
  /** For a dynamically registered client (RFC 7592 §3). */
  registrationToken: string | undefined
}

/**
 * Creates a client. A public client that registers itself as another one did before gets the row of that one: both have
 * the same id and nothing secret. So none of them may manage it. Throws invalid_client_metadata or
 * invalid_redirect_uri.
 */
export async function createClient(
  app: Pick<FastifyInstance, 'config'>,
  trx: Trx,
  fields: NewOauthClient,
  registration: 'dynamic' | 'manual',
  now: Date,
): Promise<CreatedClient> {
  const { values, authMethod, type } = readClientMetadata(app, fields)
  const isDynamic = registration === 'dynamic'
  if (isDynamic) await checkSelfChosenName(trx, fields.client_name)
  const metadataHash = isDynamic && authMethod === 'none' ? hashMetadata(values) : null
  const known = metadataHash && (await lockAndFindRegistration(trx, metadataHash))
  if (known) {
    await touchClient(trx, known.id, now)
    return {
      client: toClient(known),
      isKnown: true,
      secret: undefined,
      registrationToken: undefined,
    }
  }
  const secret = authMethod.startsWith('client_secret') ? makeSecret() : undefined
  const registrationToken = isDynamic && !metadataHash ? makeSecret() : undefined
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
    metadata_hash: metadataHash,
  }
  await insertClient(trx, stored, now)
  return { client: await getClient(trx, id), isKnown: false, secret, registrationToken }
}

function hashMetadata({ settings, ...values }: ClientValues): string {
  const sorted = (fields: object) => Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return hashClientSecret(JSON.stringify([sorted(values), sorted(settings)]))
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

interface ChangedClient {
  client: Client
  /** The changed fields that decide who receives codes and tokens of users. */
  decisive: string[]
}

/** Changes the given fields. Throws validation_failed, and the errors of `createClient`. */
export async function changeClient(
  app: FastifyInstance,
  trx: Trx,
  before: Client,
  sent: OauthClientChange,
  now: Date,
): Promise<ChangedClient> {
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
  const { values, authMethod } = readClientMetadata(app, fields)
  const decisive = listDecisiveChanges(before, { ...values, authMethod })
  await updateClient(trx, before.id, { ...values, asksAgain: asksAgain(before, values) }, now)
  return { client: await getClient(trx, before.id), decisive }
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

/** Deletes a client with its requests, codes and sessions. */
export async function deleteClient(
  app: EventWriter,
  trx: Trx,
  client: Client,
  now: Date,
): Promise<void> {
  await softDeleteClient(trx, client.id, now)
  await endClientSessions(app, trx, { client_id: client.id }, now)
}

/** Revokes every session and deletes every request and code of a client, or those of one user. */
export async function endClientSessions(
  { events }: EventWriter,
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

/** The client after the change. */
type Changed = Pick<ClientValues, 'client_name' | 'redirect_uris' | 'settings'>

/**
 * Whether users are asked for consent again: codes go to another place, the client has another name, or its tokens are
 * valid in the database, too.
 */
export function asksAgain(before: Client, after: Changed): boolean {
  return (
    joinList(before.redirectUris) !== after.redirect_uris ||
    before.name !== after.client_name ||
    widensAudience(before, after)
  )
}

/** The names of the changed fields that decide who receives codes and tokens of users. */
function listDecisiveChanges(
  before: Client,
  after: Changed & { authMethod: AuthMethod },
): string[] {
  const [old, now] = [before.settings, after.settings]
  return [
    ...(joinList(before.redirectUris) === after.redirect_uris ? [] : ['redirect_uris']),
    ...(before.authMethod === after.authMethod ? [] : ['token_endpoint_auth_method']),
    ...(isDeepStrictEqual(old.jwks, now.jwks) ? [] : ['jwks']),
    ...(old.jwks_uri === now.jwks_uri ? [] : ['jwks_uri']),
    ...(widensAudience(before, after) ? ['include_default_audience'] : []),
  ]
}

function widensAudience({ settings: before, isSelfRegistered }: Client, { settings }: Changed) {
  const [old, now] = [before.include_default_audience, settings.include_default_audience]
  return isSelfRegistered ? now === true && old !== true : old === false && now !== false
}
