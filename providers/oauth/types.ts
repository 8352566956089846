import type { Callback, Profile, Tokens } from '../core/types.ts'

/** The sources of a profile: tokens, callback and the provider's API. */
export interface ProfileSources {
  tokens: Tokens
  callback: Callback
  /** GET with the access token. Throws ProviderError profile for an error or a response that is not JSON. */
  get(url: string, headers?: Record<string, string>): Promise<unknown>
}

export type ClientAuth = 'basic' | 'body'

export interface ProviderEndpoints {
  authorize: string
  token: string
  /** The `iss` of the provider's callbacks (RFC 9207, mix-up defense), where it is known. */
  issuer?: string
  /** The provider sends `iss` in every callback. */
  namesIssuer?: boolean
}

export interface OAuth2Flow {
  /** A newer version than the cached one is awaited for at most `maxWaitMs`. */
  endpoints(now: Date, maxWaitMs?: number): ProviderEndpoints | Promise<ProviderEndpoints>
  scopes: readonly string[]
  profile(grant: ProfileSources): Profile | Promise<Profile>
  /** Whether the provider supports PKCE, and a nonce in its id_token. */
  pkce?: boolean
  nonce?: boolean
  /** Combines default and requested scopes; by default both are sent. */
  scopesFor?(requested: readonly string[]): readonly string[]
  /** Client parameters that are not passed on. */
  withheld?: readonly string[]
  /** False: scopes or parameters of the client are not passed on. */
  extraScopes?: boolean
  passthrough?: boolean
  /** Fixed parameters of the authorization URL. */
  params?: Readonly<Record<string, string>>
  /** Client authentication methods in order; by default HTTP Basic, then the body. */
  clientAuth?: readonly ClientAuth[]
  /** A generated client secret instead of the configured one. */
  clientSecret?(now: Date): Promise<string>
}
