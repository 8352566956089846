/** Sign-in with an id_token that an app got from the provider itself. */
import { createHash } from 'node:crypto'

import { genericProfile } from './generic-claims.ts'
import { toIdentity } from './identity.ts'
import { text } from './json.ts'
import { issuerOf, same, verifyIdToken } from './oidc.ts'
import {
  type Identity,
  type IdTokenRules,
  ProviderError,
  type ProviderSettings,
} from './provider.ts'
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
  upstream: Upstream
  /** The enabled providers by name, OpenID providers of the operator's own included. */
  providers: ReadonlyMap<string, ProviderSettings>
  /** Issuers accepted without a provider; the audience is then the client id of the request. */
  allowedIssuers: readonly string[]
  now: Date
}

export interface IdTokenSignIn {
  /** The identity's provider: a name, or the issuer when it belongs to none. */
  provider: string
  identity: Identity
  emailOptional: boolean
}

export type IdTokenFaultKind =
  | 'invalid_request'
  | 'invalid_nonce'
  | 'validation_failed'
  | 'provider_disabled'
  | 'unreachable'

/** `message` is safe to show. */
export class IdTokenFault extends Error {
  override name = 'IdTokenFault'
  readonly kind: IdTokenFaultKind

  constructor(kind: IdTokenFaultKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

interface Selection {
  provider: string
  rules: IdTokenRules
  settings: ProviderSettings
  audiences: readonly string[]
}

/** Who an id_token belongs to. Throws IdTokenFault; nothing is fetched for a malformed token. */
export async function identityFromIdToken(
  request: IdTokenRequest,
  context: IdTokenContext,
): Promise<IdTokenSignIn> {
  const { idToken, issuer, accessToken } = request
  if (!idToken) throw new IdTokenFault('invalid_request', 'id_token is missing')
  const { provider, rules, settings, audiences } = select(request, context)
  try {
    const claimed = issuerOf(idToken)
    if (request.provider && issuer && !sameIssuer(issuer, claimed)) throw otherIssuer(provider)
    const claims = await verifyIdToken(context.upstream.issuers, idToken, {
      ...{ audiences, accessToken, now: context.now },
      accepts: (candidate) => rules.accepts(candidate, settings),
      discoverAt: rules.discoverAt?.(settings),
    })
    if (rules.nonce && !settings.skipNonceCheck) checkNonce(text(claims.nonce), request.nonce)
    const identity = toIdentity(rules.profile(claims, settings))
    return { provider, identity, emailOptional: settings.emailOptional }
  } catch (error) {
    throw faultOf(error)
  }
}

function select(request: IdTokenRequest, context: IdTokenContext): Selection {
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
  if (!rules)
    throw new IdTokenFault('validation_failed', `Provider ${quote(name)} is not supported`)
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
  if (!context.allowedIssuers.includes(issuer)) {
    throw new IdTokenFault('validation_failed', 'The issuer is not allowed')
  }
  const accepts = (candidate: string) => candidate === issuer
  const rules = { accepts, nonce: true, profile: genericProfileOf }
  return { provider: issuer, rules, settings: unset, audiences: [clientId] }
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

/** The client gave its app's nonce; the provider was given its hash, as native SDKs do. */
function checkNonce(claimed: string, nonce = '') {
  if ((claimed === '') !== (nonce === '')) {
    throw new IdTokenFault('invalid_request', 'Nonce must be in both the ID token and the request')
  }
  const hash = createHash('sha256').update(nonce).digest('hex')
  if (nonce !== '' && !same(claimed, hash)) {
    throw new IdTokenFault('invalid_nonce', 'Nonces mismatch')
  }
}

function faultOf(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.kind === 'discovery') {
    return new IdTokenFault('unreachable', 'The provider could not be reached', { cause: error })
  }
  return new IdTokenFault('invalid_request', error.message, { cause: error })
}

function otherIssuer(provider: string) {
  return new IdTokenFault('validation_failed', `The issuer is not the one of ${provider}'s token`)
}

function sameIssuer(left: string, right: string): boolean {
  return withScheme(left) === withScheme(right)
}

function withScheme(issuer: string): string {
  return issuer.includes('://') ? issuer : `https://${issuer}`
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 60))
}
