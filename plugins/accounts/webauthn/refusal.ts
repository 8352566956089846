/** An answer that does not hold. The message is for the log, so it tells neither a challenge nor a key. */
export class AnswerRefused extends Error {
  override name = 'AnswerRefused'
}

/**
 * From an error of the library, which quotes what it was given. An origin is told whole: it is no secret, and one that
 * is missing in AUTH_WEBAUTHN_RP_ORIGINS is what operators have to find.
 */
export function refusedBecause(thrown: unknown): AnswerRefused {
  const message = thrown instanceof Error ? thrown.message : ''
  const isOrigin = /^Unexpected (registration|authentication) response origin "/.test(message)
  return new AnswerRefused(isOrigin ? message : (message.split('"')[0] ?? ''))
}
