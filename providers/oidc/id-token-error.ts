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
