/** Finds the client of a client_id. */
import { createHash } from 'node:crypto'

import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'

import type { Db } from '../../../db/core/database.ts'
import { isUnreadable } from '../../../db/core/stored-json.ts'
import {
  type ClientRow,
  findClientById,
  findClientByUrl,
} from '../../../db/oauth-server/clients.ts'
import { upsertDocumentClient } from '../../../db/oauth-server/documents.ts'
import { type ApiError, oauthClientNotFound, oauthInvalidRequest } from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { ClientRegistration, selfDescribed } from '../../../schemas/oauth/client.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { type Client, toClient } from './client.ts'
import { requireIdTokenAlgorithm } from './id-token-algorithm.ts'
import { readClientMetadata, reduceToSupported } from './metadata.ts'
import { checkSelfChosenName } from './names.ts'

/** Undefined when there is none. Throws invalid_request for an unusable metadata document. */
export function findClient(
  app: FastifyInstance,
  clientId: string,
  now: Date,
): Promise<Client | undefined> {
  return find(app, clientId, true, now)
}

/**
 * As findClient, but fetches a document only for a client that has started a request before: other clients have no
 * tokens, and anyone may send their ids.
 */
export function findKnownClient(
  app: FastifyInstance,
  clientId: string,
  now: Date,
): Promise<Client | undefined> {
  return find(app, clientId, false, now)
}

async function find(
  app: FastifyInstance,
  clientId: string,
  mayBeNew: boolean,
  now: Date,
): Promise<Client | undefined> {
  if (isUuid(clientId)) {
    const row = await findClientById(app.db, clientId)
    // A client with a document is found by its URL only.
    return row && row.document_url === null && isUsable(row) ? toClient(row) : undefined
  }
  if (!app.config.AUTH_OAUTH_SERVER_CLIENT_ID_METADATA_DOCUMENTS) return undefined
  if (!isDocumentUrl(clientId)) return undefined
  const row = await findDocumentClient(app, clientId, mayBeNew, now)
  return row && isUsable(row) ? toClient(row) : undefined
}

/** Without its settings, a client would need no key to authenticate and could request every scope. */
const isUsable = ({ settings }: ClientRow) => settings === null || !isUnreadable(settings)

/**
 * The row of a client by UUID or document URL. The document is not fetched, so that the grants of a removed client can
 * be revoked.
 */
export async function findClientRowId(db: Db, clientId: string): Promise<string | undefined> {
  if (isUuid(clientId)) return clientId.toLowerCase()
  return isDocumentUrl(clientId) ? (await findClientByUrl(db, clientId))?.id : undefined
}

// Client ID metadata documents (draft-ietf-oauth-client-id-metadata-document): the client_id is the https URL of a JSON
// document that describes the client. It is fetched under the SSRF guard and cached according to its HTTP headers.

/** The draft recommends at most 5 KB. */
const maxBytes = 5_120

const maxUrlLength = 2048

/** Seconds. */
const defaultAge = 3_600

const minAge = 60

const maxAge = 86_400

/** An https URL with a path, in its normalized form only. */
function isDocumentUrl(clientId: string): boolean {
  const url = clientId.length <= maxUrlLength ? URL.parse(clientId) : null
  if (url?.protocol !== 'https:' || url.href !== clientId) return false
  return url.pathname !== '/' && !url.hash && !url.username && !url.password
}

/**
 * The client described by a document, fetched or cached. Undefined for one that was never stored, unless it may be new.
 * Throws oauth_client_not_found, invalid_request.
 */
async function findDocumentClient(
  app: FastifyInstance,
  url: string,
  mayBeNew: boolean,
  now: Date,
): Promise<ClientRow | undefined> {
  const known = await findClientByUrl(app.db, url)
  if (!known && !mayBeNew) return undefined
  if (known?.document_expires_at && known.document_expires_at > now) return known
  await store(app, url, await fetchDocument(app, url), now)
  const found = await findClientByUrl(app.db, url)
  if (!found) throw oauthClientNotFound(400)
  return found
}

interface FetchedDocument {
  fields: ClientRegistration
  seconds: number
}

async function fetchDocument(app: FastifyInstance, url: string): Promise<FetchedDocument> {
  let response: Response
  try {
    response = await app.httpClient.fetchFromOauthClient(url, {
      headers: { accept: 'application/json' },
      redirect: 'error',
    })
  } catch (cause) {
    app.log.info({ err: cause, client_id: url }, 'client metadata document could not be fetched')
    throw unusable('it cannot be fetched')
  }
  if (response.status !== 200) throw unusable(`the server returned status ${response.status}`)
  const text = await response.text()
  if (Buffer.byteLength(text) > maxBytes) throw unusable(`it has more than ${maxBytes} bytes`)
  return { fields: readDocument(text, url), seconds: parseLifetime(response.headers) }
}

function readDocument(text: string, url: string): ClientRegistration {
  const document = parseJson(text)
  if (!isRecord(document)) throw unusable('it is not a JSON object')
  // Compared exactly: a document at another URL must not represent this client.
  if (document.client_id !== url) throw unusable('its client_id is not its own URL')
  if ('client_secret' in document) throw unusable('it contains a client_secret')
  const { token_endpoint_auth_method: method = 'none', ...rest } = document
  const fields = { ...rest, token_endpoint_auth_method: method }
  if (!Value.Check(ClientRegistration, fields)) throw unusable('a field has the wrong type')
  if (method !== 'none' && method !== 'private_key_jwt') {
    throw unusable('token_endpoint_auth_method must be none or private_key_jwt')
  }
  return selfDescribed(fields)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function store(
  app: FastifyInstance,
  url: string,
  { fields, seconds }: FetchedDocument,
  now: Date,
): Promise<void> {
  const { client_type: _, scope: __, ...described } = fields
  requireIdTokenAlgorithm(app, described, now)
  const { values, type } = readClientMetadata(app, reduceToSupported(app, described))
  await checkSelfChosenName(app.db, described.client_name)
  const expiresAt = new Date(now.getTime() + seconds * 1000)
  const stored = { ...values, id: uuidFromUrl(url), url, client_type: type, expiresAt }
  await upsertDocumentClient(app.db, stored, now)
}

/** Seconds (RFC 9111 §5.2), within limits. */
function parseLifetime(headers: Headers): number {
  const control = headers.get('cache-control')?.toLowerCase() ?? ''
  if (/\bno-(store|cache)\b/.test(control)) return minAge
  const age = /\b(?:s-maxage|max-age)=(\d+)/.exec(control)?.[1]
  return age === undefined ? defaultAge : Math.min(Math.max(Number(age), minAge), maxAge)
}

/** The UUIDv5 of the URL (RFC 9562 §5.5), for GoTrue's table. */
function uuidFromUrl(url: string): string {
  const namespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex')
  const hash = createHash('sha1').update(namespace).update(url).digest().subarray(0, 16)
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function unusable(why: string): ApiError {
  return oauthInvalidRequest(`The metadata document at the client_id cannot be used: ${why}`)
}
