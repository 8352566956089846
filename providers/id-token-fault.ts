/** Why an id_token is not accepted. */
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
