/** The application that requested the sign-in. */
import { findAuthorization } from '../../../db/oauth-server/authorizations.ts'
import { findClientById } from '../../../db/oauth-server/clients.ts'
import { getHost } from '../../../modules/pages/index.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'

interface RequestingApp {
  /** For a client that registered itself, the host: its name is unverified. */
  name: string
  /** The requested languages. */
  locales: string | undefined
}

/** Undefined for a sign-in without an application. */
export async function findRequestingApp(
  { db }: Deps<'db'>,
  next: string,
): Promise<RequestingApp | undefined> {
  const id = new URLSearchParams(next.split('?')[1] ?? '').get('authorization_id')
  const request = id ? await findAuthorization(db, id) : undefined
  const client = request && (await findClientById(db, request.client_id))
  if (!client) return undefined
  const host = getHost(request.redirect_uri)
  const name = client.registration_type === 'manual' ? client.client_name || host : host
  return { name, locales: request.parameters?.ui_locales }
}
