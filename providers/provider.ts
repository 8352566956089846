/**
 * The contract of an external provider: where to send the browser, and who signed in.
 * Nothing here knows the web server, the database or configuration files.
 */
import type { JWTPayload } from 'jose'

import type { Upstream } from './upstream.ts'

/** What an operator enters for one provider. */
export interface ProviderSettings {
  /** The first entry is used in the browser flow; every entry is an accepted audience of id_tokens. */
  clientIds: readonly string[]
  secret?: string | undefined
  redirectUri: string
  /** Base URL that replaces the provider's own hosts: self-hosted editions, tenants, proxies. */
  url?: string | undefined
  /** Where the profile is asked for, instead of the host that it is usually at. */
  apiUrl?: string | undefined
  emailOptional: boolean
  skipNonceCheck: boolean
  /** OpenID Connect only: the issuer, and the scopes when `openid email profile` will not do. */
  issuer?: string | undefined
  scopes?: readonly string[] | undefined
  /** Apple only: the native app's audience, and what its client secret is made from. */
  bundleId?: string | undefined
  teamId?: string | undefined
  keyId?: string | undefined
  privateKey?: string | undefined
}

/** What the caller keeps with the state until the callback, and never shows to the browser. */
export interface FlowSecrets {
  codeVerifier?: string
  nonce?: string
  requestToken?: string
  requestTokenSecret?: string
  /** A GoTrue began the flow, without the protections that are ours. */
  begunElsewhere?: boolean
}

export interface AuthorizationRequest {
  state: string
  /** Scopes wanted beyond the provider's default ones. */
  scopes: readonly string[]
  /** Further query parameters of the client; those that belong to the protocol are dropped. */
  params: Readonly<Record<string, string>>
  now: Date
}

export interface Authorization {
  url: URL
  secrets: FlowSecrets
}

export interface Callback {
  /** Query and form of the callback: code, iss, user, oauth_token, oauth_verifier. */
  params: Readonly<Record<string, string | undefined>>
  secrets: FlowSecrets
  now: Date
}

export type Claims = Record<string, unknown>

export interface ProviderEmail {
  /** Trimmed, NFKC, lower case. */
  email: string
  verified: boolean
  primary: boolean
}

export interface Identity {
  /** The person's id at the provider, never empty. */
  providerId: string
  /** What is stored as identity_data: no empty strings, both `*_verified` always there. */
  claims: Claims
  /** Every address the provider reported; `claims.email` is the primary one, else the last. */
  emails: ProviderEmail[]
  providerToken?: string
  providerRefreshToken?: string
}

export interface Provider {
  /** Where to send the browser. Throws ProviderError: configuration, discovery, request_token. */
  authorizationUrl(request: AuthorizationRequest): Promise<Authorization>
  /** Who signed in. Throws ProviderError of any other kind. */
  identity(callback: Callback): Promise<Identity>
}

/** The person as one provider's file reads it, before it becomes an Identity. */
export interface Profile {
  sub: string
  claims: Claims
  emails: ProviderEmail[]
}

/** How id_tokens of a provider are recognised and read. `issuers` are pinned before a key is fetched. */
export interface IdTokenRules {
  accepts(issuer: string, settings: ProviderSettings): boolean
  /** Where discovery lives when it is not at the token's own issuer. */
  discoverAt?(settings: ProviderSettings): string
  /** False for the one provider whose tokens carry no usable nonce. */
  nonce: boolean
  /** Whether a token without a nonce is accepted all the same. */
  mayLackNonce?(claims: JWTPayload): boolean
  profile(claims: JWTPayload, settings: ProviderSettings): Profile
}

/** What docs/providers.md says about a provider. */
export interface ProviderDocs {
  title: string
  /** Where the application is registered. */
  register: string
  /** What to enter there, one sentence a step; the redirect URI and copying the id are implied. */
  steps: readonly string[]
  scopes: string
  url: string
  variables?: Readonly<Record<string, string>>
  notes: readonly string[]
}

export interface ProviderDefinition {
  docs: ProviderDocs
  create(settings: ProviderSettings, upstream: Upstream): Provider
  idToken?: IdTokenRules
}

/** A provider with a file of its own in vendors/. */
export interface Vendor extends ProviderDefinition {
  /** As people know it; mails say it. */
  name: string
}

/**
 * configuration  a needed value is missing or unusable
 * discovery      the provider's metadata or keys could not be had
 * request_token  OAuth 1.0a refused to start
 * callback       the callback lacks what it must carry, or does not belong to this flow
 * code_exchange  the token endpoint gave no tokens
 * profile        the person could not be read
 * id_token       the id_token is missing or not to be trusted
 * user_form      Apple's `user` field is not JSON
 */
export type ProviderFault =
  | 'configuration'
  | 'discovery'
  | 'request_token'
  | 'callback'
  | 'code_exchange'
  | 'profile'
  | 'id_token'
  | 'user_form'

/** `kind` may be shown; the rest is for the log. It carries no token, code, secret or address. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly kind: ProviderFault
  /** Nobody could have signed in: the provider gave no answer, or one that says so. */
  readonly isDown: boolean
  /** The provider's own words (said.ts); '' when it said nothing. */
  readonly said: string

  constructor(kind: ProviderFault, message: string, { isDown = false, said = '' } = {}) {
    super(message)
    this.kind = kind
    this.isDown = isDown
    this.said = said
  }
}
