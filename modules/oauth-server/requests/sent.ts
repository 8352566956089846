/** Request parameters, which may be repeated, and the error of a request. */

/** The parameters as sent: a name may have several values. */
export type SentParameters = Readonly<Record<string, string | readonly string[]>>

/** The first value of a parameter; an empty one counts as absent (RFC 6749 §3.1). */
export function sentValue(sent: SentParameters, name: string): string | undefined {
  const value = sent[name]
  return (typeof value === 'string' ? value : value?.[0]) || undefined
}

/** All non-empty values. */
export function sentValues(sent: SentParameters, name: string): string[] {
  const value = sent[name] ?? []
  return (typeof value === 'string' ? [value] : [...value]).filter(Boolean)
}

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
