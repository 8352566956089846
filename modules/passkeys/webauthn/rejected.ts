/** A rejected credential. The message is for the log and contains neither challenge nor key. */
export class CredentialRejectedError extends Error {
  override name = 'CredentialRejectedError'
}

/**
 * Converts an error of the library, which quotes its input. An origin is kept: it is no secret, and operators need to
 * find one that is missing in AUTH_WEBAUTHN_RP_ORIGINS.
 */
export function rejectionReason(thrown: unknown): CredentialRejectedError {
  const message = thrown instanceof Error ? thrown.message : ''
  const isOrigin = /^Unexpected (registration|authentication) response origin "/.test(message)
  return new CredentialRejectedError(isOrigin ? message : (message.split('"')[0] ?? ''))
}
