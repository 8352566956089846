import type { JWTPayload, LocalJWKSet } from 'jose'

import type { Request, Send } from './http-types.ts'

/** The section of a provider in docs/providers.md. */
export interface ProviderDocs {
  title: string
  /** Where to register the application. */
  register: string
  /** Registration steps, a sentence each; the redirect URI and copying the id are implied. */
  steps: readonly string[]
  scopes: string
  url: string
  variables?: Readonly<Record<string, string>>
  notes: readonly string[]
}

/** How to recognize and read id_tokens of a provider. `issuers` are checked before keys are fetched. */
export interface IdTokenRules {
  accepts(issuer: string, settings: ProviderSettings): boolean
  /** The discovery URL if it is not at the token's issuer. */
  discoverAt?(settings: ProviderSettings): string | URL | undefined
  /** False for the provider whose tokens have no usable nonce. */
  nonce: boolean
  /** Whether a token without a nonce is accepted. */
  mayLackNonce?(claims: JWTPayload): boolean
  profile(claims: JWTPayload, settings: ProviderSettings): Profile
}

/** The user as read by a provider's file, before it becomes an Identity. */
export interface Profile {
  sub: string
  claims: Claims
  emails: ProviderEmail[]
}

export interface ProviderEmail {
  /** Trimmed, NFKC, lower case, the host in ASCII. */
  email: string
  verified: boolean
  primary: boolean
}

export type Claims = Record<string, unknown>

/** An operator's configuration of a provider. */
export interface ProviderSettings {
  /** The browser flow uses the first entry; id_tokens may have any entry as audience. */
  clientIds: readonly string[]
  secret?: string | undefined
  redirectUri: string
  /** OpenID Connect only: also accepts ID tokens that are signed with the client secret. */
  acceptsHs256?: boolean
  /** A base URL that replaces the provider's hosts: self-hosted editions, tenants, proxies. */
  url?: string | undefined
  /** The API base URL, instead of the usual host. */
  apiUrl?: string | undefined
  emailOptional: boolean
  skipNonceCheck: boolean
  /** OpenID Connect only: the issuer, and scopes other than `openid email profile`. */
  issuer?: string | undefined
  scopes?: readonly string[] | undefined
  /** Only for a provider created at run time. */
  custom?: CustomSettings | undefined
  /** Apple only: the audience of the native app, and the parts of the client secret. */
  bundleId?: string | undefined
  teamId?: string | undefined
  keyId?: string | undefined
  privateKey?: string | undefined
}

export interface ProviderAuthorization {
  url: URL
  secrets: FlowSecrets
}

/** Secrets stored with the state until the callback, never sent to the browser. */
export interface FlowSecrets {
  codeVerifier?: string
  nonce?: string
  requestToken?: string
  requestTokenSecret?: string
  /** GoTrue started the flow, without our additional checks. */
  startedByGotrue?: boolean
}

export interface Callback {
  /** Query and form of the callback: code, iss, user, oauth_token, oauth_verifier. */
  params: Readonly<Record<string, string | undefined>>
  secrets: FlowSecrets
  now: Date
}

export interface AuthorizationRequest {
  state: string
  /** Scopes in addition to the provider's default ones. */
  scopes: readonly string[]
  /** Further query parameters of the client; protocol parameters are dropped. */
  params: Readonly<Record<string, string>>
  now: Date
}

export interface ProviderIdentity {
  /** The user's id at the provider, never empty. */
  providerId: string
  /** Stored as identity_data: without empty strings, always with both `*_verified`. */
  claims: Claims
  /** Every address of the user; `claims.email` is the primary one, else the last. */
  emails: ProviderEmail[]
  providerToken?: string
  providerRefreshToken?: string
  /** Of a custom provider, which admins may have changed since: its issuer or `userinfo_url`. */
  issuer?: string | undefined
}

export interface ProviderHttp {
  request: Request
  send: Send
  issuers: Issuers
}

export interface Issuers {
  /**
   * `source` is the issuer, or the URL of its document. When an older copy exists, a newer one is awaited for at most
   * `maxWaitMs`. Throws ProviderError discovery when it cannot be loaded, or names an unaccepted issuer.
   */
  metadata(
    source: string | URL,
    accepts: (issuer: string) => boolean,
    now: Date,
    maxWaitMs?: number,
  ): Promise<ProfileMetadata>
  keys(jwksUri: string, now: Date): Promise<LocalJWKSet>
  /** For a token with an unknown key: keys may have been rotated. At most one fetch in 30 s. */
  newerKeys(jwksUri: string, now: Date): Promise<LocalJWKSet>
}

export interface Tokens {
  accessToken: string
  tokenType: string
  refreshToken: string
  idToken: string
  /** The whole response, for providers that extend it. */
  reply: unknown
}

export interface ProfileMetadata {
  issuer: string
  authorizationEndpoint: string
  tokenEndpoint: string
  userinfoEndpoint: string
  jwksUri: string
  algorithms: readonly string[]
  /** Whether every callback has an `iss` (RFC 9207 §3). */
  namesIssuer: boolean
}

/** Settings of a provider created at run time. */
export interface CustomSettings {
  pkce: boolean
  /** Take precedence over those of a request. */
  authorizationParams: Readonly<Record<string, string>>
  /** Maps a claim to a field of the profile, or to a constant that is not a string. */
  attributeMapping: Readonly<Record<string, unknown>>
  /** Claims that are copied unchanged. */
  claimsAllowlist: readonly string[]
  /** OpenID Connect: the metadata URL, if it is not below the issuer. */
  discoveryUrl?: string | undefined
  /** OAuth 2.0 only. */
  endpoints?: { authorize: string; token: string; userinfo: string } | undefined
}
