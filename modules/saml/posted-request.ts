/** Open requests to identity providers: the browser opens them at our page, which posts them or redirects. */
import type { FastifyInstance } from 'fastify'

import { findSamlLogout, type SamlLogoutRow } from '../../db/saml/logins.ts'
import { findSsoProvider } from '../../db/saml/providers.ts'
import { findRelayState, type RelayStateRow } from '../../db/saml/relay-states.ts'
import { samlRelayStateNotFound } from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import { getSamlMetadata } from './metadata.ts'
import { findRelayFault } from './relay.ts'
import type { SentMessage } from './send.ts'
import { sendRequest } from './sign-on.ts'

type OpenRequest = { relay: RelayStateRow } | { logout: SamlLogoutRow }

/** Finds a sign-in or logout by its RelayState. */
export async function findOpenRequest(
  { db }: FastifyInstance,
  id: string,
): Promise<OpenRequest | undefined> {
  if (!isUuid(id)) return undefined
  const relay = await findRelayState(db, id)
  if (relay) return { relay }
  const logout = await findSamlLogout(db, id)
  return logout && { logout }
}

/** Creates its message. Throws saml_relay_state_not_found and saml_relay_state_expired. */
export async function sendOpenRequest(
  app: FastifyInstance,
  request: OpenRequest,
  now: Date,
): Promise<SentMessage> {
  const message =
    'relay' in request
      ? await sendSignOn(app, request.relay, now)
      : await sendLogout(app, request.logout)
  if (!message) throw samlRelayStateNotFound()
  return message
}

async function sendSignOn(
  app: FastifyInstance,
  relay: RelayStateRow,
  now: Date,
): Promise<SentMessage | undefined> {
  const fault = findRelayFault(app, relay, now)
  if (fault) throw fault
  const provider = await findSsoProvider(app.db, relay.sso_provider_id)
  return provider && sendRequest(app, provider, relay, now)
}

async function sendLogout(
  { db }: FastifyInstance,
  { id, message, sso_provider_id }: SamlLogoutRow,
): Promise<SentMessage | undefined> {
  const provider = await findSsoProvider(db, sso_provider_id)
  if (!provider || message === null) return undefined
  const { logout: endpoints } = await getSamlMetadata(provider)
  const endpoint = endpoints.find(({ binding }) => binding === 'HTTP-POST')
  return endpoint && { url: endpoint.url, fields: { SAMLRequest: message, RelayState: id } }
}
