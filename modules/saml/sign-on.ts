/** Redirects a user to their organization's identity provider, or lets the browser post the request there. */
import type { FastifyInstance } from 'fastify'

import { insertFlowState } from '../../db/flows/flow-states.ts'
import { findSamlLogout, type SamlLogoutRow } from '../../db/saml/logins.ts'
import {
  findSsoProvider,
  findSsoProviderByDomain,
  type SsoProviderRow,
} from '../../db/saml/providers.ts'
import { findRelayState, insertRelayState, type RelayStateRow } from '../../db/saml/relay-states.ts'
import { authnRequest } from '../../providers/saml/messages.ts'
import {
  samlRelayStateNotFound,
  ssoProviderDisabled,
  ssoProviderNotFound,
} from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import type { Pkce } from '../otp/links.ts'
import { normalizeDomain } from './manage.ts'
import { getSamlMetadata } from './metadata.ts'
import { findRelayFault, isBrowserBound } from './relay.ts'
import { messageId, postPage, type SentMessage, sendSamlMessage } from './send.ts'
import { getServiceProvider } from './service-provider.ts'
import { upToDate } from './verify.ts'

interface SignOnRequest {
  /** Exactly one of the two is set. */
  providerId: string | undefined
  domain: string | undefined
  /** Validated when the user returns. */
  redirectTo: string | undefined
  pkce: Pkce | undefined
}

export const samlMethod = 'sso/saml'
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'

/** Returns the redirect target. Throws sso_provider_not_found, sso_provider_disabled, saml_metadata_expired. */
export async function startSignOn(
  app: FastifyInstance,
  request: SignOnRequest,
  now: Date,
): Promise<string> {
  const stored = await findProvider(app, request)
  if (stored.disabled) throw ssoProviderDisabled()
  const provider = await upToDate(app, stored, now)
  const { signOn } = await getSamlMetadata(provider)
  const [relayState, requestId] = [crypto.randomUUID(), messageId()]
  await app.db.transaction().execute(async (trx) => {
    const flow_state_id = request.pkce ? crypto.randomUUID() : null
    if (flow_state_id && request.pkce) {
      const flow = { id: flow_state_id, user_id: null, auth_code: null, ...toFlow(request.pkce) }
      await insertFlowState(trx, flow, now)
    }
    const state = { id: relayState, sso_provider_id: provider.id, request_id: requestId }
    const redirect_to = request.redirectTo ?? null
    await insertRelayState(trx, { ...state, redirect_to, flow_state_id }, now)
  })
  // A client calls this by fetch, which ignores cookies of another site: the browser gets its cookie at our page.
  if (signOn.binding === 'HTTP-POST' || isBrowserBound(app)) return postPage(app, relayState)
  const { url } = await sendRequest(app, provider, { id: relayState, request_id: requestId }, now)
  return url
}

/** Creates the AuthnRequest of a started sign-in in the provider's binding. */
async function sendRequest(
  app: FastifyInstance,
  provider: SsoProviderRow,
  { id: relayState, request_id }: Pick<RelayStateRow, 'id' | 'request_id'>,
  now: Date,
): Promise<SentMessage> {
  const { signOn } = await getSamlMetadata(provider)
  const { entityId, acsUrl } = getServiceProvider(app)
  const nameIdFormat = provider.name_id_format ?? persistent
  const head = { id: request_id, issuer: entityId, destination: signOn.url, issuedAt: now }
  const xml = authnRequest({ ...head, acsUrl, nameIdFormat })
  return sendSamlMessage(app, signOn, { kind: 'SAMLRequest', xml, relayState })
}

async function findProvider(
  { db }: FastifyInstance,
  { providerId, domain = '' }: SignOnRequest,
): Promise<SsoProviderRow> {
  const found = providerId
    ? await findSsoProvider(db, providerId)
    : await findSsoProviderByDomain(db, normalizeDomain(domain))
  if (!found) throw ssoProviderNotFound()
  return found
}

function toFlow({ challenge, method }: Pkce) {
  return {
    code_challenge: challenge,
    code_challenge_method: method,
    provider_type: samlMethod,
    authentication_method: samlMethod,
  }
}

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
