/** Which provider's rules apply to an id_token request. */
import { genericProfile } from './generic-claims.ts'
import { IdTokenFault } from './id-token-fault.ts'
import type { IdTokenRules, ProviderSettings } from './provider.ts'
import { findDefinition, providerNames } from './registry.ts'
import type { Upstream } from './upstream.ts'

export interface IdTokenRequest {
  idToken?: string | undefined
  provider?: string | undefined
  issuer?: string | undefined
  clientId?: string | undefined
  accessToken?: string | undefined
  nonce?: string | undefined
}

export interface IdTokenContext {
  /** By provider, or by issuer where it belongs to none. */
  upstreamOf(provider: string): Upstream
  /** The enabled providers by name, OpenID providers of the operator's own included. */
  providers: ReadonlyMap<string, ProviderSettings>
  /** Issuers accepted without a provider, each with the audiences whose tokens are meant for us. */
  allowedIssuers: ReadonlyMap<string, readonly string[]>
  now: Date
}

interface Selection {
  provider: string
  rules: IdTokenRules
  settings: ProviderSettings
  audiences: readonly string[]
}

/** Throws IdTokenFault for a provider that is unknown, disabled, or without id_tokens. */
export function select(request: IdTokenRequest, context: IdTokenContext): Selection {
  const name = request.provider?.toLowerCase()
  if (name) return selectByName(name, context)
  const { issuer, clientId } = request
  if (!issuer || !clientId) {
    throw new IdTokenFault('invalid_request', 'provider, or issuer and client_id, is missing')
  }
  return selectByIssuer(issuer, clientId, context)
}

function selectByName(name: string, { providers }: IdTokenContext): Selection {
  const settings = providers.get(name)
  const rules = findDefinition(name, settings)?.idToken
  if (!rules) {
    throw new IdTokenFault('validation_failed', `Provider ${quote(name)} is not supported`)
  }
  if (!settings) {
    throw new IdTokenFault('provider_disabled', `Provider ${quote(name)} is not enabled`)
  }
  return { provider: name, rules, settings, audiences: audiencesOf(settings) }
}

/** An issuer of a known provider is that provider, enabled or not; then the operator's list. */
function selectByIssuer(issuer: string, clientId: string, context: IdTokenContext): Selection {
  const names = new Set([...providerNames, ...context.providers.keys()])
  for (const name of names) {
    const settings = context.providers.get(name)
    const rules = findDefinition(name, settings)?.idToken
    if (rules?.accepts(withScheme(issuer), settings ?? unset)) return selectByName(name, context)
  }
  const configured = context.allowedIssuers.get(issuer)
  if (!configured) throw new IdTokenFault('validation_failed', 'The issuer is not allowed')
  // The request may choose among the operator's audiences. One of its own choice would let in whoever holds a
  // token that the issuer made for any other app.
  const audiences = configured.filter((audience) => audience === clientId)
  if (audiences.length === 0) {
    throw new IdTokenFault('validation_failed', 'The client_id is not allowed for this issuer')
  }
  const accepts = (candidate: string) => candidate === issuer
  const rules = { accepts, nonce: true, profile: genericProfileOf }
  return { provider: issuer, rules, settings: unset, audiences }
}

const unset: ProviderSettings = {
  clientIds: [],
  redirectUri: '',
  emailOptional: false,
  skipNonceCheck: false,
}

const genericProfileOf: IdTokenRules['profile'] = (claims) => genericProfile(claims)

function audiencesOf({ clientIds, bundleId }: ProviderSettings): readonly string[] {
  return bundleId ? [...clientIds, bundleId] : clientIds
}

/** Google's issuer is written with and without it. */
export function withScheme(issuer: string): string {
  return issuer.includes('://') ? issuer : `https://${issuer}`
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 60))
}
