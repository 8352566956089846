/**
 * configuration  a needed value is missing or unusable
 * discovery      the provider's metadata or keys could not be loaded
 * request_token  the provider rejected the OAuth 1.0a request
 * callback       the callback lacks a parameter, or does not belong to this flow
 * no_verifier    the provider requires PKCE since the flow started without it
 * code_exchange  the token endpoint returned no tokens
 * profile        the profile could not be read
 * id_token       the id_token is missing or invalid
 * user_form      Apple's `user` field is not JSON
 */
export type ProviderErrorKind =
  | 'configuration'
  | 'discovery'
  | 'request_token'
  | 'callback'
  | 'no_verifier'
  | 'code_exchange'
  | 'profile'
  | 'id_token'
  | 'user_form'

/** `kind` may be shown; the rest is for the log. Contains no token, code, secret or address. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly kind: ProviderErrorKind
  /** The provider is unavailable: no response, or one that says so. */
  readonly isDown: boolean
  /** The provider's error text (quoted.ts); '' without one. */
  readonly providerMessage: string

  constructor(
    kind: ProviderErrorKind,
    message: string,
    { isDown = false, providerMessage = '' } = {},
  ) {
    super(message)
    this.kind = kind
    this.isDown = isDown
    this.providerMessage = providerMessage
  }
}
