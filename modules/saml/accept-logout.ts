/** Logout messages of identity providers: requests that revoke sessions here, and responses to our requests. */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { consumeOnce } from '../../db/replays/replays.ts'
import { consumeSamlLogout, type SamlLogoutRow } from '../../db/saml/logins.ts'
import { findSsoProvider, type SsoProviderRow } from '../../db/saml/providers.ts'
import {
  type IncomingMessage,
  isSigned,
  readForm,
  readRedirect,
  verifiedRoot,
} from '../../providers/saml/bindings.ts'
import { logoutResponse } from '../../providers/saml/messages.ts'
import { isSuccess } from '../../providers/saml/status.ts'
import { SamlError } from '../../providers/saml/values.ts'
import { childrenNamed, elementText, isNamed, type XmlElement } from '../../providers/saml/xml.ts'
import {
  samlIdpNotFound,
  samlRelayStateNotFound,
  samlResponseInvalid,
} from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import { endLogins } from './begin-logout.ts'
import { checkLogoutMessage } from './checks.ts'
import { getSamlMetadata } from './metadata.ts'
import { nameIdIn } from './provider-session.ts'
import { messageId, type SentMessage, sendSamlMessage } from './send.ts'
import { getServiceProvider } from './service-provider.ts'
import { accepted, createReplayKey, findProvider, upToDate } from './verify.ts'

/** HTTP-Redirect binding: the raw query. HTTP-POST binding: the form fields. */
type PostedLogout = { query: string } | { fields: Record<string, string> }

/** The redirect target, and why a response is rejected. */
type AcceptedLogout = SentMessage & { fault?: unknown }

/**
 * Throws validation_failed, saml_idp_not_found, sso_provider_disabled, saml_metadata_expired and
 * saml_relay_state_not_found.
 */
export async function acceptLogout(
  app: FastifyInstance,
  posted: PostedLogout,
  ip: string,
  now: Date,
): Promise<AcceptedLogout> {
  const message = await accepted(
    () => ('query' in posted ? readRedirect(posted.query) : readForm(posted.fields)),
    app.log,
  )
  const { root } = message.document
  if (isNamed(root, 'protocol', 'LogoutRequest')) return acceptRequest(app, message, ip, now)
  if (isNamed(root, 'protocol', 'LogoutResponse')) return acceptResponse(app, message, now)
  throw samlResponseInvalid('it is not a LogoutRequest or LogoutResponse')
}

async function acceptRequest(
  app: FastifyInstance,
  message: IncomingMessage,
  ip: string,
  now: Date,
): Promise<SentMessage> {
  const provider = await findProvider(app, undefined, message)
  const { root, usableUntil } = await verified(app, provider, message, now)
  const nameId = await accepted(async () => requireNameId(root), app.log)
  const sessionIndexes = childrenNamed(root, 'protocol', 'SessionIndex').map(elementText)
  const principal = { sso_provider_id: provider.id, name_id: nameId, sessionIndexes }
  await app.db.transaction().execute(async (trx) => {
    await consume(trx, provider, root, usableUntil)
    await endLogins(app, trx, principal, ip, now)
  })
  return respond(app, provider, { message, root }, now)
}

function requireNameId(request: XmlElement): string {
  const nameId = nameIdIn(request)
  if (!nameId) throw new SamlError('it has no NameID')
  return nameId.value
}

async function consume(
  trx: Trx,
  { entity_id }: SsoProviderRow,
  root: XmlElement,
  usableUntil: Date,
): Promise<void> {
  if (await consumeOnce(trx, createReplayKey(entity_id, root), usableUntil)) return
  throw samlResponseInvalid('it was already used')
}

/** Uses the binding of the request if the provider supports it; redirects to the site if it accepts no response. */
async function respond(
  app: FastifyInstance,
  provider: SsoProviderRow,
  { message, root }: { message: IncomingMessage; root: XmlElement },
  now: Date,
): Promise<SentMessage> {
  const { logout } = await getSamlMetadata(provider)
  const used = message.detached ? 'HTTP-Redirect' : 'HTTP-POST'
  const endpoint = logout.find(({ binding }) => binding === used) ?? logout[0]
  if (!endpoint) return { url: app.config.AUTH_SITE_URL, fields: undefined }
  const { binding, responseUrl: url } = endpoint
  const { entityId: issuer } = getServiceProvider(app)
  const head = { id: messageId(), issuer, destination: url, issuedAt: now }
  const xml = logoutResponse({ ...head, inResponseTo: root.getAttribute('ID') })
  const { relayState } = message
  return sendSamlMessage(app, { binding, url }, { kind: 'SAMLResponse', xml, relayState })
}

/** Redirects to the target of the logout in any case, where a rejected response is reported. */
async function acceptResponse(
  app: FastifyInstance,
  message: IncomingMessage,
  now: Date,
): Promise<AcceptedLogout> {
  const { relayState } = message
  const logout = isUuid(relayState) ? await consumeSamlLogout(app.db, relayState) : undefined
  if (!logout) throw samlRelayStateNotFound()
  const target = { url: logout.redirect_to, fields: undefined }
  try {
    await checkLogoutResponse(app, message, logout, now)
    return target
  } catch (fault) {
    return { ...target, fault }
  }
}

/**
 * Only requests need a signature, because they revoke sessions: a response leads to the target that the user chose, and
 * names our request. Entra ID signs none. A signature that is there has to be valid.
 */
async function checkLogoutResponse(
  app: FastifyInstance,
  message: IncomingMessage,
  logout: SamlLogoutRow,
  now: Date,
): Promise<void> {
  const provider = await findSsoProvider(app.db, logout.sso_provider_id)
  if (!provider) throw samlIdpNotFound()
  const root = isSigned(message)
    ? (await verified(app, provider, message, now)).root
    : message.document.root
  if (message.issuer !== '' && message.issuer !== provider.entity_id) {
    throw samlResponseInvalid('it has another issuer')
  }
  if (root.getAttribute('InResponseTo') !== logout.request_id) {
    throw samlResponseInvalid('it is not a response to the request of this logout')
  }
  if (!isSuccess(root)) throw samlResponseInvalid('the identity provider did not log the user out')
}

async function verified(
  app: FastifyInstance,
  stored: SsoProviderRow,
  message: IncomingMessage,
  now: Date,
): Promise<{ root: XmlElement; usableUntil: Date }> {
  const provider = await upToDate(app, stored, now)
  const { certificates } = await getSamlMetadata(provider)
  const { logoutUrl: destination } = getServiceProvider(app)
  return accepted(async () => {
    const root = await verifiedRoot(message, certificates)
    const expected = { destination, issuer: provider.entity_id, now }
    return { root, usableUntil: checkLogoutMessage(root, expected) }
  }, app.log)
}
