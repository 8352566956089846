/** Redirects a user to their organization's identity provider. */
import type { FastifyInstance } from 'fastify'

import { insertFlowState } from '../../db/flows/flow-states.ts'
import {
  findSsoProvider,
  findSsoProviderByDomain,
  type SsoProviderRow,
} from '../../db/saml/providers.ts'
import { insertRelayState, type RelayStateRow } from '../../db/saml/relay-states.ts'
import { authnRequest } from '../../providers/saml/messages.ts'
import { ssoProviderDisabled, ssoProviderNotFound } from '../../schemas/errors.ts'
import type { Pkce } from '../otp/link-context.ts'
import { normalizeDomain } from './manage.ts'
import { getSamlMetadata } from './metadata.ts'
import { isBrowserBound } from './relay.ts'
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
export async function sendRequest(
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
