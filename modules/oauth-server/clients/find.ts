/** Finds the client of a client_id. */
import type { Db } from '../../../db/core/database.ts'
import { findClientById, findClientByUrl } from '../../../db/oauth-server/clients.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { type Client, toClient } from './client.ts'
import { findDocumentClient, isDocumentUrl } from './document.ts'

type FindDeps = Deps<'config' | 'db' | 'httpClient' | 'jwt' | 'log'>

/** Undefined when there is none. Throws invalid_request for an unusable metadata document. */
export function findClient(
  deps: FindDeps,
  clientId: string,
  now: Date,
): Promise<Client | undefined> {
  return find(deps, clientId, true, now)
}

/**
 * As findClient, but fetches a document only for a client that has started a request before: other clients have no
 * tokens, and anyone may send their ids.
 */
export function findKnownClient(
  deps: FindDeps,
  clientId: string,
  now: Date,
): Promise<Client | undefined> {
  return find(deps, clientId, false, now)
}

async function find(
  deps: FindDeps,
  clientId: string,
  mayBeNew: boolean,
  now: Date,
): Promise<Client | undefined> {
  if (isUuid(clientId)) {
    const row = await findClientById(deps.db, clientId)
    // A client with a document is found by its URL only.
    return row && row.document_url === null ? toClient(row) : undefined
  }
  if (!deps.config.AUTH_OAUTH_SERVER_CLIENT_ID_METADATA_DOCUMENTS) return undefined
  if (!isDocumentUrl(clientId)) return undefined
  const row = await findDocumentClient(deps, clientId, mayBeNew, now)
  return row && toClient(row)
}

/**
 * The row of a client by UUID or document URL. The document is not fetched, so that the grants of a removed client can
 * be revoked.
 */
export async function findClientRowId(db: Db, clientId: string): Promise<string | undefined> {
  if (isUuid(clientId)) return clientId.toLowerCase()
  return isDocumentUrl(clientId) ? (await findClientByUrl(db, clientId))?.id : undefined
}
