/** Sign-ins that were started here. Responses and our page name them by RelayState. */
import type { FastifyInstance } from 'fastify'

import {
  consumeRelayState,
  findRelayState,
  type RelayStateRow,
} from '../../db/saml/relay-states.ts'
import {
  type ApiError,
  badOauthState,
  samlRelayStateExpired,
  samlRelayStateNotFound,
} from '../../schemas/errors.ts'
import { isUuid } from '../../schemas/fields.ts'
import { isAllowedRedirect } from '../flows/index.ts'

interface ConsumedSignOn {
  /** Undefined for a sign-in that starts at the identity provider. */
  relay: RelayStateRow | undefined
  /** The requested redirect target, which is not validated. */
  redirectTo: string | undefined
  /** Why the response is rejected. */
  fault: ApiError | undefined
}

/** Whether a sign-in can be completed only by the browser that started it. */
export const isBrowserBound = ({ config }: FastifyInstance): boolean =>
  config.AUTH_EXTERNAL_BIND_BROWSER === 'always'

/**
 * Consumes the sign-in before its response is verified, so that there is one attempt. In another browser it is not
 * consumed: otherwise any client with the response could block the browser that started it. The RelayState of a sign-in
 * that starts at the identity provider is its redirect target.
 */
export async function consumeSignOn(
  app: FastifyInstance,
  relayState: string,
  browserHash: string,
  now: Date,
): Promise<ConsumedSignOn> {
  if (!isUuid(relayState)) {
    return { relay: undefined, redirectTo: relayState || undefined, fault: undefined }
  }
  const expected = isBrowserBound(app) ? browserHash : undefined
  const relay = await consumeRelayState(app.db, relayState, expected)
  if (relay) {
    const redirectTo = relay.redirect_to ?? undefined
    return { relay, redirectTo, fault: findRelayFault(app, relay, now) }
  }
  const kept = await findRelayState(app.db, relayState)
  return {
    relay: undefined,
    redirectTo: kept?.redirect_to ?? undefined,
    fault: kept ? otherBrowser() : samlRelayStateNotFound(),
  }
}

/** saml_relay_state_expired, or undefined. */
export function findRelayFault(
  { config }: FastifyInstance,
  { created_at }: RelayStateRow,
  now: Date,
): ApiError | undefined {
  const ageMs = now.getTime() - (created_at?.getTime() ?? 0)
  return ageMs > config.AUTH_SAML_RELAY_STATE_VALIDITY_PERIOD * 1000
    ? samlRelayStateExpired()
    : undefined
}

export const otherBrowser = () => badOauthState('The sign-in was started in another browser')

/**
 * The final redirect target: a path is relative to the site, and a target that is not allowed is replaced by the site.
 */
export function redirectTarget(
  { config, flows }: FastifyInstance,
  requested: string | undefined,
): string {
  const site = config.AUTH_SITE_URL
  if (!requested) return site
  const target = requested.startsWith('/') ? URL.parse(requested, site)?.href : requested
  return target && isAllowedRedirect(target, flows.redirectRules) ? target : site
}
