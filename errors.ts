/**
 * The error catalogue: one function per error_code. Throw what they return; plugins/api-errors.ts renders it.
 * Messages go to clients as they are, so they hold nothing of what is stored, and none of the database's own words.
 */

export interface ApiErrorDetails {
  /** Why a password was refused: `length`, `characters`, `pwned`. */
  reasons?: string[]
  /** Seconds after which a retry can succeed; sent as Retry-After. */
  retryAfter?: number
  /** How many were allowed, when too many came. */
  limit?: number
  /** What went wrong inside; logged, never sent. */
  cause?: unknown
  /** The external provider that is down: in the log as a warning, as it is no fault of this server. */
  provider?: string
  /** RFC 6749 §5.2 fields for clients of the id_token grant. */
  oauth?: { error: string; description: string }
}

export class ApiError extends Error {
  readonly status: number
  readonly errorCode: string
  readonly details: ApiErrorDetails

  constructor(status: number, errorCode: string, message: string, details: ApiErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.name = 'ApiError'
    this.status = status
    this.errorCode = errorCode
    this.details = details
  }
}

/** What an operator's hook made of a request. */
export class HookError extends ApiError {
  readonly fault: HookFault

  constructor(
    fault: HookFault,
    status: number,
    code: string,
    message: string,
    cause?: unknown,
    details: ApiErrorDetails = {},
  ) {
    super(status, code, message, { cause, ...details })
    this.fault = fault
  }
}

/**
 * - refused: the hook answered with an error object.
 * - unreachable: nobody heard of the call.
 * - failed: the receiver answered that it cannot.
 * - silent: no answer came in time.
 * - unreadable: it answered that all is well, in a form that is none.
 */
export type HookFault = 'refused' | 'unreachable' | 'failed' | 'silent' | 'unreadable'

/** Everybody together has sent enough for now; `details.retryAfter` says when there is more. */
export class SendQuotaExceeded extends ApiError {}

/** A repeat that comes too soon after what it repeats; `details.retryAfter` says when it may come. */
export class RepeatTooSoon extends ApiError {}

const error = (status: number, code: string, message: string, details?: ApiErrorDetails) =>
  new ApiError(status, code, message, details)

// Transport
export const badJson = (why: string) =>
  error(400, 'bad_json', `Could not parse request body as JSON: ${why}`)
export const validationFailed = (message: string, status: 400 | 404 | 422 = 400) =>
  error(status, 'validation_failed', message)
export const notFound = () =>
  error(404, 'not_found', 'There is nothing at this path. Check the URL and its prefix.')
export const webhookNotFound = () =>
  error(
    404,
    'webhook_not_found',
    'There is no webhook with this id. GET /admin/webhooks lists them.',
  )
export const methodNotAllowed = (allow: string) =>
  error(405, 'method_not_allowed', `This path does not answer this method. It allows: ${allow}`)
export const requestEntityTooLarge = (limit: number) =>
  error(413, 'request_entity_too_large', `Request body too large (max ${limit} bytes)`)
export const requestTimeout = (mayHaveTakenEffect: boolean, cause?: unknown) =>
  error(
    504,
    'request_timeout',
    mayHaveTakenEffect
      ? 'Processing this request timed out, and it may have taken effect: look before you retry.'
      : 'Processing this request timed out, please retry after a moment.',
    { cause },
  )
export const overRequestRateLimit = (retryAfter: number, limit: number) =>
  error(429, 'over_request_rate_limit', 'Request rate limit reached', { retryAfter, limit })
export const unexpectedFailure = (message: string, cause?: unknown) =>
  error(500, 'unexpected_failure', message, { cause })
export const serviceUnavailable = (message: string, retryAfter: number, cause?: unknown) =>
  error(503, 'service_unavailable', message, { retryAfter, cause })
export const databaseUnavailable = (cause: unknown) =>
  serviceUnavailable('The database cannot be reached. Try again shortly.', 5, cause)
export const databaseBusy = (cause: unknown) =>
  serviceUnavailable('The database could not do this in time. Try again shortly.', 5, cause)
export const conflict = () =>
  error(
    409,
    'conflict',
    'Too many concurrent token refresh requests on the same session or refresh token',
  )
export const unknownHost = () =>
  error(
    403,
    'unknown_host',
    'Pages of development are served under localhost, under addresses, and under the names in AUTH_API_EXTERNAL_URL, AUTH_SITE_URL, AUTH_API_HOST and AUTH_MAILER_EXTERNAL_HOSTS, to pages of the same names. Use one of these, or add this one to AUTH_MAILER_EXTERNAL_HOSTS.',
  )
export const featureDisabled = (message: string) => error(404, 'feature_disabled', message)
export const oauthServerDisabled = () => featureDisabled('The OAuth server is disabled')
export const eventsDisabled = () =>
  featureDisabled('Events are switched off: set AUTH_EVENTS_ENABLED=true')
export const passkeyDisabled = () => error(404, 'passkey_disabled', 'Passkeys are disabled')
export const samlProviderDisabled = () =>
  error(404, 'saml_provider_disabled', 'SAML 2.0 is disabled')
export const web3ProviderDisabled = () =>
  error(422, 'web3_provider_disabled', 'Web3 provider is disabled')

// Bearer tokens and roles
export const noAuthorization = () =>
  error(401, 'no_authorization', 'This endpoint requires a valid Bearer token')
export const anonymousNotAllowed = () =>
  error(403, 'no_authorization', 'Anonymous user not allowed to perform these actions')
export const badJwt = (why: string, status: 400 | 403 = 403) => error(status, 'bad_jwt', why)
export const notAdmin = () => error(403, 'not_admin', 'User not allowed')
export const userFromTokenNotFound = () =>
  error(403, 'user_not_found', 'User from sub claim in JWT does not exist')
export const userNotFound = (message = 'User not found') => error(404, 'user_not_found', message)
export const sessionNotFound = () =>
  error(403, 'session_not_found', 'Session from session_id claim in JWT does not exist')
export const noSuchSession = () => error(404, 'session_not_found', 'There is no such session')
export const sessionInvalid = () =>
  error(403, 'session_expired', 'Session is no longer valid. Sign in again.')
export const insufficientAal = (message: string, status: 401 | 403 | 422 = 401) =>
  error(status, 'insufficient_aal', message)
export const sessionImpersonated = () =>
  error(
    403,
    'session_impersonated',
    'This session was opened in the place of the person and cannot change how they sign in: use the admin endpoints',
  )

// Signing in
export const invalidCredentials = (message = 'Invalid login credentials') =>
  error(400, 'invalid_credentials', message)
export const unsupportedGrantType = () =>
  error(400, 'invalid_credentials', 'unsupported_grant_type')
export const emailNotConfirmed = (message = 'Email not confirmed', status: 400 | 403 | 422 = 400) =>
  error(status, 'email_not_confirmed', message)
export const phoneNotConfirmed = (message = 'Phone not confirmed', status: 400 | 403 | 422 = 400) =>
  error(status, 'phone_not_confirmed', message)
export const userBanned = (status: 400 | 403, message = 'User is banned') =>
  error(status, 'user_banned', message)
export const tooManyAttempts = (retryAfter: number) =>
  error(
    429,
    'over_request_rate_limit',
    `Too many failed attempts. Try again after ${retryAfter} seconds.`,
    { retryAfter },
  )

// Signing up
export const signupDisabled = () =>
  error(422, 'signup_disabled', 'Signups not allowed for this instance')
export const userAlreadyExists = () => error(400, 'user_already_exists', 'User already registered')
export const emailExists = (status: 400 | 422 = 422) =>
  error(status, 'email_exists', 'A user with this email address has already been registered')
export const phoneExists = () =>
  error(422, 'phone_exists', 'A user with this phone number has already been registered')
export const userIdExists = () =>
  error(422, 'user_already_exists', 'A user with this id already exists')
export const anonymousProviderDisabled = () =>
  error(422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled')
export const emailProviderDisabled = (message: string, status: 400 | 422) =>
  error(status, 'email_provider_disabled', message)
export const phoneProviderDisabled = (message: string, status: 400 | 422) =>
  error(status, 'phone_provider_disabled', message)
export const otpDisabled = () => error(422, 'otp_disabled', 'Signups not allowed for otp')
export const captchaFailed = (why: string) =>
  error(400, 'captcha_failed', `captcha protection: request disallowed (${why})`)

// Metadata
export const metadataTooLarge = (name: string, limit: number) =>
  error(422, 'metadata_too_large', `${name} may have no more than ${limit} bytes of JSON`)
export const tokenTooLarge = (claim: string, limit: number) =>
  error(
    422,
    'token_too_large',
    `The access token would be longer than ${limit} characters: ${claim} has to become smaller`,
  )

// Passwords
export const weakPassword = (message: string, reasons: string[]) =>
  error(422, 'weak_password', message, { reasons })
export const samePassword = () =>
  error(422, 'same_password', 'New password should be different from the old password.')
export const reauthenticationNeeded = (message: string) =>
  error(400, 'reauthentication_needed', message)
export const reauthenticationNotValid = () =>
  error(422, 'reauthentication_not_valid', 'Nonce has expired or is invalid')
export const currentPasswordRequired = () =>
  error(400, 'current_password_required', 'Current password required when setting new password.')
export const currentPasswordInvalid = () =>
  error(400, 'current_password_invalid', 'The current password is not right.')
export const hashQueueFull = () =>
  serviceUnavailable('The server is busy checking passwords. Try again in a moment.', 2)

// Refresh tokens
export const refreshTokenNotFound = () =>
  error(400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found')
export const refreshTokenAlreadyUsed = () =>
  error(400, 'refresh_token_already_used', 'Invalid Refresh Token: Already Used')
export const refreshSessionNotFound = () =>
  error(400, 'session_not_found', 'Invalid Refresh Token: No Valid Session Found')
/** RFC 6749 §5.2. Only the OAuth server that opened the session tells its applications apart. */
export const oauthSession = () => {
  const description = 'Client authentication required for OAuth session'
  return error(400, 'invalid_credentials', description, {
    oauth: { error: 'invalid_client', description },
  })
}
export const sessionExpired = (
  why: '' | 'Inactivity' | 'Low AAL: User Needs MFA Verification' | 'Revoked by Newer Login',
) =>
  error(
    400,
    'session_expired',
    `Invalid Refresh Token: Session Expired${why === '' ? '' : ` (${why})`}`,
  )

// One-time tokens and mail
export const otpExpired = () => error(403, 'otp_expired', 'Token has expired or is invalid')
export const linkExpired = () => error(403, 'otp_expired', 'Email link is invalid or has expired')
export const sentTooRecently = (channel: 'email' | 'sms', seconds: number) =>
  error(
    429,
    channel === 'email' ? 'over_email_send_rate_limit' : 'over_sms_send_rate_limit',
    `For security purposes, you can only request this after ${seconds} seconds.`,
    { retryAfter: seconds },
  )
/** No client hears of it: a worker does. */
export const repeatTooSoon = (retryAfter: number) =>
  new RepeatTooSoon(429, 'over_request_rate_limit', 'A repeat waits for what it repeats', {
    retryAfter,
  })
export const sendQuotaExceeded = (channel: 'email' | 'sms', retryAfter: number) =>
  channel === 'email'
    ? new SendQuotaExceeded(429, 'over_email_send_rate_limit', 'email rate limit exceeded', {
        retryAfter,
      })
    : new SendQuotaExceeded(429, 'over_sms_send_rate_limit', 'SMS rate limit exceeded', {
        retryAfter,
      })
export const emailAddressNotAuthorized = (address: string) =>
  error(
    400,
    'email_address_not_authorized',
    `Email address "${address}" cannot be used as it is not authorized`,
  )
export const mailNotConfigured = () =>
  error(
    500,
    'email_provider_not_configured',
    'This server cannot send email: its operator has to set AUTH_SMTP_HOST, AUTH_SMTP_PORT and AUTH_SMTP_ADMIN_EMAIL.',
  )
export const smsSendFailed = (cause?: unknown) =>
  error(
    422,
    'sms_send_failed',
    'Error sending confirmation OTP to provider: the message was not accepted. Check the number or try later.',
    { cause },
  )

// Flow state (RFC 7636)
export const flowStateNotFound = () =>
  error(404, 'flow_state_not_found', 'invalid flow state, no valid flow state found')
export const flowStateMissing = () =>
  error(400, 'flow_state_not_found', 'invalid flow state, no valid flow state found')
export const flowStateExpired = () =>
  error(422, 'flow_state_expired', 'invalid flow state, flow state has expired')
export const flowStateAlreadyUsed = () =>
  error(400, 'flow_state_already_used', 'invalid flow state, it was used before')
export const badCodeVerifier = () =>
  error(400, 'bad_code_verifier', 'code challenge does not match previously saved code verifier')

// External providers and identities
export const badOauthCallback = (message: string, cause?: unknown) =>
  error(400, 'bad_oauth_callback', message, { cause })
export const badOauthState = (message: string) => error(400, 'bad_oauth_state', message)
export const oauthProviderNotSupported = (message: string) =>
  error(400, 'oauth_provider_not_supported', message)
export const providerDown = (provider: string, cause: unknown) =>
  error(
    503,
    'service_unavailable',
    'This provider cannot be reached at the moment. Try again shortly.',
    { retryAfter: 5, cause, provider },
  )
export const providerUnusable = (message: string, cause: unknown) =>
  error(400, 'validation_failed', message, { cause })
/** What the provider itself answered in the callback (RFC 6749 §4.1.2.1); it has no code of ours. */
export const providerRefused = (oauthError: string, cause?: unknown) => {
  const description = 'The provider did not sign the person in'
  return error(400, '', description, { oauth: { error: oauthError, description }, cause })
}
export const badIdToken = (
  fault: 'invalid request' | 'invalid nonce',
  description: string,
  cause?: unknown,
) => error(400, 'validation_failed', description, { oauth: { error: fault, description }, cause })
export const providerDisabled = (message: string) => error(400, 'provider_disabled', message)
export const providerEmailNeedsVerification = () =>
  error(
    422,
    'provider_email_needs_verification',
    'The provider has not verified this email address. Open the confirmation link we mailed to it, then sign in again.',
  )
export const providerEmailUnverified = () =>
  error(
    422,
    'provider_email_needs_verification',
    'Somebody has this email address here, and the provider has not verified that it is yours.',
  )
export const inviteNotFound = () => error(404, 'invite_not_found', 'Invite not found')
export const manualLinkingDisabled = () =>
  error(404, 'manual_linking_disabled', 'Manual linking is disabled')
export const identityAlreadyExists = (message: string) =>
  error(422, 'identity_already_exists', message)
export const identityNotFound = () => error(422, 'identity_not_found', "Identity doesn't exist")
export const singleIdentityNotDeletable = () =>
  error(422, 'single_identity_not_deletable', 'User must have at least 1 identity after unlinking')
export const emailConflictIdentityNotDeletable = () =>
  error(
    422,
    'email_conflict_identity_not_deletable',
    "Unable to unlink identity: another account already uses the address that would become this user's email.",
  )
export const ssoManaged = (message: string) => error(422, 'user_sso_managed', message)

// Second factors. Messages that apps compare or translate are those of GoTrue.
export const mfaFactorNotFound = () => error(404, 'mfa_factor_not_found', 'Factor not found')
export const recoveryCodesNotFound = () =>
  error(404, 'mfa_factor_not_found', 'There are no recovery codes: generate them first')
export const mfaChallengeNotFound = () =>
  error(422, 'mfa_factor_not_found', 'This factor has no such challenge in this session')
export const mfaNotEnabled = (what: 'enroll' | 'verify', type: 'totp' | 'phone' | 'webauthn') => {
  const action = { enroll: 'enroll', verify: 'verification' }[what]
  const factor = { totp: 'TOTP', phone: 'Phone', webauthn: 'WebAuthn' }[type]
  return error(422, `mfa_${type}_${what}_not_enabled`, `MFA ${action} is disabled for ${factor}`)
}
/** Also for a number that an admin gives a factor, where another one that is not verified yet has it. */
export const mfaVerifiedFactorExists = () =>
  error(422, 'mfa_verified_factor_exists', 'This phone number is a factor of this user already')
export const recoveryCodesExist = () =>
  error(
    422,
    'mfa_verified_factor_exists',
    'There are recovery codes already: regenerate them to have new ones',
  )
export const tooManyEnrolledFactors = () =>
  error(
    422,
    'too_many_enrolled_mfa_factors',
    'Maximum number of verified factors reached, unenroll to continue',
  )
/** Also for a challenge that was answered before. */
export const mfaIpAddressMismatch = () =>
  error(
    422,
    'mfa_ip_address_mismatch',
    'This challenge was answered before, or was made for another network address',
  )
export const mfaChallengeExpired = () =>
  error(422, 'mfa_challenge_expired', 'This challenge has expired: make a new one')
export const mfaVerificationFailed = (message: string) =>
  error(422, 'mfa_verification_failed', message)
/** Also for a code that is too old or was used before. */
export const mfaWrongAnswer = (type: 'totp' | 'phone' | 'webauthn') => {
  const messages = {
    totp: 'Invalid TOTP code entered',
    phone: 'Invalid MFA Phone code entered',
    webauthn: 'The security key could not be verified',
  }
  return mfaVerificationFailed(messages[type])
}
export const mfaVerificationRejected = (message: string) =>
  error(403, 'mfa_verification_rejected', message)
export const mfaEnrollmentRequired = () =>
  error(403, 'mfa_enrollment_required', 'People with this role must add a second factor first')
export const mfaFactorNameConflict = (name: string) =>
  error(
    422,
    'mfa_factor_name_conflict',
    `A factor with the friendly name "${name}" for this user already exists`,
  )

// Passkeys
export const noSuchPasskey = () => validationFailed('There is no such passkey', 404)
export const tooManyPasskeys = () =>
  error(422, 'too_many_passkeys', 'You have as many passkeys as are allowed. Delete one first.')
export const webauthnChallengeNotFound = () =>
  error(400, 'webauthn_challenge_not_found', 'There is no such challenge, or it was answered')
export const webauthnChallengeExpired = () =>
  error(400, 'webauthn_challenge_expired', 'The challenge has expired. Ask for another one.')
export const webauthnVerificationFailed = (cause?: unknown) =>
  error(400, 'webauthn_verification_failed', 'The passkey could not be verified', { cause })
export const webauthnCredentialExists = () =>
  error(422, 'webauthn_credential_exists', 'This passkey is registered already')

// Hooks
/** `status` and `message` are the hook's own. */
export const hookRefused = (status: number, message: string, cause?: unknown) =>
  new HookError(
    'refused',
    status,
    status === 500 ? 'unexpected_failure' : 'unknown',
    message,
    cause,
  )
export const hookUnreachable = (cause: unknown) =>
  new HookError('unreachable', 500, 'unexpected_failure', 'A hook could not be reached', cause)
export const hookUnreachableAfterRetry = (fault: 'unreachable' | 'silent', cause: unknown) =>
  new HookError(
    fault,
    422,
    'hook_timeout_after_retry',
    'A hook could not be reached after several attempts. Try again later.',
    cause,
  )
export const hookFailed = (cause: unknown) =>
  new HookError(
    'failed',
    500,
    'unexpected_failure',
    'A hook answered that it failed. Try again later.',
    cause,
  )
export const hookTimeout = (cause?: unknown) =>
  new HookError(
    'silent',
    422,
    'hook_timeout',
    'A hook did not answer in time. Try again later.',
    cause,
  )
export const hookFunctionTimeout = (cause: unknown) =>
  new HookError(
    'silent',
    500,
    'unexpected_failure',
    'A database function that is a hook did not finish in time. Try again later.',
    cause,
  )
/** Nobody knows whether the function has run to its end. */
export const hookFunctionLost = (cause: unknown) =>
  new HookError(
    'silent',
    503,
    'service_unavailable',
    'The database cannot be reached. Try again shortly.',
    cause,
    { retryAfter: 5 },
  )
export const hookWrongContentType = (type: string) =>
  new HookError(
    'unreadable',
    400,
    'hook_payload_invalid_content_type',
    'A hook answered with something other than application/json',
    new Error(`content-type: ${type.slice(0, 200) || 'none'}`),
  )
export const hookAnswerTooLong = (limit: number) =>
  new HookError(
    'unreadable',
    422,
    'hook_payload_over_size_limit',
    `A hook answered with more than ${limit} bytes`,
  )
export const hookAnswerUnreadable = (why: string, cause?: unknown) =>
  new HookError('unreadable', 500, 'unexpected_failure', why, cause)
/** Somebody else made or deleted the account between the question to the hook and the change. */
export const accountChangedMeanwhile = () =>
  serviceUnavailable('The account was changed by another request. Try again.', 1)
