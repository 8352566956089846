/** Responses to clients through the browser. */
import type { Deps } from '../../../plugins/define-plugin.ts'

type Parameters = Record<string, string | null | undefined>

/**
 * Adds parameters to the registered URI's query. `iss` prevents mix-up attacks (RFC 9207). Characters that a header
 * cannot contain are encoded.
 */
export function redirectTo(
  { jwt }: Deps<'jwt'>,
  redirectUri: string,
  parameters: Parameters,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...parameters, iss: jwt.issuer })) {
    if (value) query.set(name, value)
  }
  const target = /[^\x20-\x7e]/.test(redirectUri) ? new URL(redirectUri).href : redirectUri
  const separator = target.includes('?') ? '&' : '?'
  return `${target}${separator}${query}`
}
