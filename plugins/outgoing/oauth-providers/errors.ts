/** Errors for clients when a provider fails; the provider's own message is only logged. */
import { ProviderError } from '../../../providers/core/provider-error.ts'
import { quoted } from '../../../providers/http/quoted.ts'
import { IdTokenError } from '../../../providers/id-token-selection.ts'
import {
  type ApiError,
  badIdToken,
  badOauthCallback,
  oauthInvalidState,
  providerDisabled,
  providerDown,
  providerRejected,
  providerUnusable,
  unexpectedFailure,
  validationFailed,
} from '../../../schemas/errors.ts'

/** Errors before the browser is redirected to the provider. */
export function authorizationError(error: unknown, provider: string): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.isDown) return providerDown(provider, error)
  const sentence =
    error.kind === 'configuration'
      ? 'This provider is not configured completely'
      : 'The metadata of this provider has no authorization endpoint'
  return providerUnusable(sentence, error)
}

/**
 * An error response of the provider in place of a code (RFC 6749 §4.1.2.1); undefined for anything else. Its text is
 * untrusted, so it is only logged.
 */
export function toCallbackError(params: Readonly<Record<string, string>>): ApiError | undefined {
  const { denied, error, error_description: description } = params
  if (!denied && !error) return undefined
  const words = [error ?? 'denied', description].filter(Boolean).join(': ')
  const sent = [params.state, params.code]
  const providerMessage = quoted(words, sent)
  const cause = new ProviderError('callback', 'the provider rejected the request', {
    providerMessage,
  })
  const known = denied ? 'access_denied' : (error ?? '')
  return providerRejected(/^[a-z_]{1,64}$/.test(known) ? known : 'server_error', cause)
}

/** Errors after the browser has returned. */
export function callbackError(error: unknown, provider: string): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.isDown) return providerDown(provider, error)
  if (error.kind === 'callback') {
    return badOauthCallback('The callback does not belong to this sign-in', error)
  }
  if (error.kind === 'no_verifier') return oauthInvalidState(error)
  if (error.kind === 'user_form') return providerRejected('server_error', error)
  return unexpectedFailure(callbackSentences[error.kind], error)
}

const callbackSentences: Record<
  Exclude<ProviderError['kind'], 'callback' | 'no_verifier' | 'user_form'>,
  string
> = {
  configuration: 'This provider is not configured completely',
  discovery: 'This provider cannot be reached at the moment',
  request_token: 'This provider cannot be reached at the moment',
  code_exchange: 'The provider did not accept the authorization code',
  profile: 'The provider did not return the user',
  id_token: 'The id_token of the provider could not be verified',
}

/** Errors of an id_token that the app itself sends; these messages are for its developer. */
export function toIdTokenApiError(error: unknown, provider: string): unknown {
  if (error instanceof ProviderError) return callbackError(error, provider)
  if (!(error instanceof IdTokenError)) return error
  const { cause } = error
  if (cause instanceof ProviderError && cause.isDown) return providerDown(provider, cause)
  return idTokenErrors[error.kind](error)
}

const idTokenErrors: Record<IdTokenError['kind'], (fault: IdTokenError) => ApiError> = {
  invalid_request: (fault) => badIdToken('invalid request', fault.message, fault),
  invalid_nonce: (fault) => badIdToken('invalid nonce', fault.message, fault),
  validation_failed: (fault) => validationFailed(fault.message),
  provider_disabled: (fault) => providerDisabled(fault.message),
  unreachable: (fault) => unexpectedFailure(fault.message, fault.cause),
}
