/** Selects the provider rules for an id_token request. */
import { findSameUri, isSameUri } from '../schemas/values/uris.ts'
import type { IdTokenRules, ProviderHttp, ProviderSettings } from './core/types.ts'
import { genericProfile } from './oidc/generic-claims.ts'
import { findDefinition, providerNames } from './registry.ts'

export interface IdTokenRequest {
  idToken?: string | undefined
  provider?: string | undefined
  issuer?: string | undefined
  clientId?: string | undefined
  accessToken?: string | undefined
  nonce?: string | undefined
}

export interface IdTokenContext {
  /** By provider, or by issuer for a token without a provider. */
  getProviderHttp(provider: string): ProviderHttp
  /** The enabled providers by name, custom OpenID providers included. */
  providers: ReadonlyMap<string, ProviderSettings>
  /** Additional issuers with their accepted audiences. */
  allowedIssuers: ReadonlyMap<string, readonly string[]>
  now: Date
}

interface Selection {
  provider: string
  rules: IdTokenRules
  settings: ProviderSettings
  audiences: readonly string[]
}

/** Throws IdTokenError for a provider that is unknown, disabled, or without id_tokens. */
export function selectIdTokenProvider(request: IdTokenRequest, context: IdTokenContext): Selection {
  const name = request.provider?.toLowerCase()
  if (name) return selectByName(name, context)
  const { issuer, clientId } = request
  if (!issuer || !clientId) {
    throw new IdTokenError('invalid_request', 'provider, or issuer and client_id, is missing')
  }
  return selectByIssuer(issuer, clientId, context)
}

function selectByName(name: string, { providers }: IdTokenContext): Selection {
  const settings = providers.get(name)
  const rules = findDefinition(name, settings)?.idToken
  if (!rules) {
    throw new IdTokenError('validation_failed', `Provider ${quote(name)} is not supported`)
  }
  if (!settings) {
    throw new IdTokenError('provider_disabled', `Provider ${quote(name)} is not enabled`)
  }
  return { provider: name, rules, settings, audiences: listAudiences(settings) }
}

/** An issuer of a known provider selects that provider, enabled or not; then the additional issuers. */
function selectByIssuer(issuer: string, clientId: string, context: IdTokenContext): Selection {
  const names = new Set([...providerNames, ...context.providers.keys()])
  for (const name of names) {
    const settings = context.providers.get(name)
    const rules = findDefinition(name, settings)?.idToken
    if (rules?.accepts(withScheme(issuer), settings ?? unset)) return selectByName(name, context)
  }
  const known = findSameUri([...context.allowedIssuers.keys()], issuer)
  const configured = known && context.allowedIssuers.get(known)
  if (!known || !configured) {
    throw new IdTokenError('validation_failed', 'The issuer is not allowed')
  }
  // The request may choose among the configured audiences only. Any other audience would accept tokens that the issuer
  // made for other apps.
  const audiences = configured.filter((audience) => audience === clientId)
  if (audiences.length === 0) {
    throw new IdTokenError('validation_failed', 'The client_id is not allowed for this issuer')
  }
  const accepts = (candidate: string) => isSameUri(candidate, known)
  const rules = { accepts, nonce: true, profile: toGenericProfile }
  return { provider: known, rules, settings: unset, audiences }
}

const unset: ProviderSettings = {
  clientIds: [],
  redirectUri: '',
  emailOptional: false,
  skipNonceCheck: false,
}

const toGenericProfile: IdTokenRules['profile'] = (claims) => genericProfile(claims)

function listAudiences({ clientIds, bundleId }: ProviderSettings): readonly string[] {
  return bundleId ? [...clientIds, bundleId] : clientIds
}

/** Google's issuer exists with and without the scheme. */
export function withScheme(issuer: string): string {
  return issuer.includes('://') ? issuer : `https://${issuer}`
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 60))
}

/** The reasons for rejecting an id_token. */
export type IdTokenErrorKind =
  | 'invalid_request'
  | 'invalid_nonce'
  | 'validation_failed'
  | 'provider_disabled'
  | 'unreachable'

/** `message` is safe to show. */
export class IdTokenError extends Error {
  override name = 'IdTokenError'
  readonly kind: IdTokenErrorKind

  constructor(kind: IdTokenErrorKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}
