/** Responses to clients through the browser. */
import type { Deps } from '../../../plugins/define-plugin.ts'

type Parameters = Record<string, string | null | undefined>

/** Adds parameters to the registered URI's query. `iss` prevents mix-up attacks (RFC 9207). */
export function redirectTo(
  { jwt }: Deps<'jwt'>,
  redirectUri: string,
  parameters: Parameters,
): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...parameters, iss: jwt.issuer })) {
    if (value) query.set(name, value)
  }
  const separator = redirectUri.includes('?') ? '&' : '?'
  return `${redirectUri}${separator}${query}`
}
