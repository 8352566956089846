/** Finds the client of a client_id. */
import { findClientById } from '../../../db/oauth-server/clients.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { isUuid } from '../../../schemas/fields.ts'
import { type Client, toClient } from './client.ts'
import { findDocumentClient, isDocumentUrl } from './document.ts'

/** Undefined when there is none. Throws invalid_request for an unusable metadata document. */
export async function findClient(
  deps: Deps<'config' | 'db' | 'httpClient' | 'jwt' | 'log'>,
  clientId: string,
  now: Date,
): Promise<Client | undefined> {
  if (isUuid(clientId)) {
    const row = await findClientById(deps.db, clientId)
    // A client with a document is found by its URL only.
    return row && row.document_url === null ? toClient(row) : undefined
  }
  if (!deps.config.AUTH_OAUTH_SERVER_CLIENT_ID_METADATA_DOCUMENTS) return undefined
  return isDocumentUrl(clientId)
    ? toClient(await findDocumentClient(deps, clientId, now))
    : undefined
}
