/** How the client gets its response (OAuth 2.0 Multiple Response Type Encoding Practices §2.1, Form Post Response Mode). */
import type { ResponseMode } from '../../../db/tables/oauth-server.ts'
import { isWebUrl } from '../clients/redirect-uris.ts'
import { AuthorizationError, type SentParameters, sentValue } from './sent.ts'

export const responseModes: readonly ResponseMode[] = ['query', 'fragment', 'form_post']

/** Undefined when none is requested. Throws AuthorizationError. */
export function readResponseMode(
  sent: SentParameters,
  redirectUri: string,
): ResponseMode | undefined {
  const requested = sentValue(sent, 'response_mode')
  if (requested === undefined) return undefined
  const mode = responseModes.find((each) => each === requested)
  if (!mode) {
    throw new AuthorizationError(
      'invalid_request',
      `response_mode must be one of ${responseModes.join(', ')}`,
    )
  }
  if (mode === 'form_post' && !isWebUrl(redirectUri)) {
    throw new AuthorizationError(
      'invalid_request',
      'response_mode form_post requires an http or https redirect_uri',
    )
  }
  return mode
}

/** The mode of an error: the requested one where it is valid. */
export function readErrorMode(sent: SentParameters, redirectUri: string): ResponseMode {
  try {
    return readResponseMode(sent, redirectUri) ?? 'query'
  } catch {
    return 'query'
  }
}
