/**
 * An error of an authorization request that is reported to the client (RFC 6749 §4.1.2.1, OpenID Connect Core
 * §3.1.2.6).
 */
export class AuthorizationError extends Error {
  /** The error code for the client. */
  readonly error: string

  constructor(error: string, description: string) {
    super(description)
    this.name = 'AuthorizationError'
    this.error = error
  }
}
