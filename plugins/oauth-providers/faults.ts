/** What a client is told when a provider fails; what the provider said is for the log. */
import {
  type ApiError,
  badIdToken,
  badOauthCallback,
  providerDisabled,
  providerDown,
  providerRefused,
  providerUnusable,
  unexpectedFailure,
  validationFailed,
} from '../../errors.ts'
import { IdTokenFault } from '../../providers/id-token-fault.ts'
import { ProviderError } from '../../providers/provider.ts'
import { quoted } from '../../providers/said.ts'

/** Before the browser is sent to the provider. */
export function startFault(error: unknown, provider: string): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.isDown) return providerDown(provider, error)
  const sentence =
    error.kind === 'configuration'
      ? 'This provider is not configured completely'
      : 'This provider does not say where to sign in'
  return providerUnusable(sentence, error)
}

/**
 * What the provider sent the browser back with instead of a code (RFC 6749 §4.1.2.1). Undefined for anything else. Its
 * words may be anything, so they go to the log and no further.
 */
export function answerFault(params: Readonly<Record<string, string>>): ApiError | undefined {
  const { denied, error, error_description: description } = params
  if (!denied && !error) return undefined
  const words = [error ?? 'denied', description].filter(Boolean).join(': ')
  const sent = [params.state, params.code]
  const said = quoted(words, sent)
  const cause = new ProviderError('callback', 'the provider refused', { said })
  const known = denied ? 'access_denied' : (error ?? '')
  return providerRefused(/^[a-z_]{1,64}$/.test(known) ? known : 'server_error', cause)
}

/** When the browser has come back. */
export function callbackFault(error: unknown, provider: string): unknown {
  if (!(error instanceof ProviderError)) return error
  if (error.isDown) return providerDown(provider, error)
  if (error.kind === 'callback') {
    return badOauthCallback('The callback does not belong to this sign-in', error)
  }
  if (error.kind === 'user_form') return providerRefused('server_error', error)
  return unexpectedFailure(callbackSentences[error.kind], error)
}

const callbackSentences: Record<
  Exclude<ProviderError['kind'], 'callback' | 'user_form'>,
  string
> = {
  configuration: 'This provider is not configured completely',
  discovery: 'This provider cannot be reached at the moment',
  request_token: 'This provider cannot be reached at the moment',
  code_exchange: 'The provider did not accept the authorization code',
  profile: 'The provider did not say who signed in',
  id_token: 'The id_token of the provider could not be verified',
}

/** When an app brings the id_token itself; these messages are written for it. */
export function idTokenFault(error: unknown, provider: string): unknown {
  if (error instanceof ProviderError) return callbackFault(error, provider)
  if (!(error instanceof IdTokenFault)) return error
  const { cause } = error
  if (cause instanceof ProviderError && cause.isDown) return providerDown(provider, cause)
  return idTokenErrors[error.kind](error)
}

const idTokenErrors: Record<IdTokenFault['kind'], (fault: IdTokenFault) => ApiError> = {
  invalid_request: (fault) => badIdToken('invalid request', fault.message, fault),
  invalid_nonce: (fault) => badIdToken('invalid nonce', fault.message, fault),
  validation_failed: (fault) => validationFailed(fault.message),
  provider_disabled: (fault) => providerDisabled(fault.message),
  unreachable: (fault) => unexpectedFailure(fault.message, fault.cause),
}
