/** Requests to providers that only support HTTP-POST: our page has the browser post them. */
import { findSamlLogout } from '../../db/saml/logouts.ts'
import { findSsoProvider } from '../../db/saml/providers.ts'
import { findRelayState } from '../../db/saml/relay-states.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { samlRelayStateNotFound } from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import { checkRelayAge } from './acs.ts'
import { getSamlMetadata } from './metadata.ts'
import type { SentMessage } from './send.ts'
import { sendRequest } from './sign-on.ts'

type PageDeps = Deps<'config' | 'db'>

/** Finds a request by its RelayState. Throws saml_relay_state_not_found, saml_relay_state_expired. */
export async function findPostedRequest(
  deps: PageDeps,
  id: string,
  now: Date,
): Promise<SentMessage> {
  const request = isUuid(id)
    ? ((await findSignOn(deps, id, now)) ?? (await findLogout(deps, id)))
    : undefined
  if (!request) throw samlRelayStateNotFound()
  return request
}

async function findSignOn(deps: PageDeps, id: string, now: Date): Promise<SentMessage | undefined> {
  const relay = await findRelayState(deps.db, id)
  if (!relay) return undefined
  checkRelayAge(deps, relay, now)
  const provider = await findSsoProvider(deps.db, relay.sso_provider_id)
  return provider && sendRequest(deps, provider, relay, now)
}

async function findLogout({ db }: PageDeps, id: string): Promise<SentMessage | undefined> {
  const logout = await findSamlLogout(db, id)
  const provider = logout && (await findSsoProvider(db, logout.sso_provider_id))
  if (!provider || logout.message === null) return undefined
  const { logout: endpoints } = await getSamlMetadata(provider)
  const endpoint = endpoints.find(({ binding }) => binding === 'HTTP-POST')
  const fields = { SAMLRequest: logout.message, RelayState: id }
  return endpoint && { url: endpoint.url, fields }
}
