/**
 * The error catalogue: one function per error_code. Throw what they return; plugins/http/api-errors/index.ts renders
 * it. Clients receive the messages unchanged, so that they contain neither stored data nor database errors.
 */
import type { ErrorCode } from './values/error-codes.ts'

export interface ApiErrorDetails {
  /** Why a password was rejected: `length`, `characters`, `pwned`. */
  reasons?: string[]
  /** Seconds until a retry can succeed; sent as Retry-After. */
  retryAfter?: number
  /** The exceeded limit. */
  limit?: number
  /** The internal cause; logged, never sent. */
  cause?: unknown
  /** The unavailable provider: logged as a warning, since it is no error of this server. */
  provider?: string
  /** The fields of RFC 6749 §5.2. */
  oauth?: { error: string; description: string }
  /** The error type of RFC 7644 §3.12. */
  scimType?: string | undefined
  /** The WWW-Authenticate header (RFC 9110 §11.6.1). */
  challenge?: string
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

/** Whether it is an error of the API with one of these codes. */
export const isErrorWithCode = (error: unknown, ...codes: readonly ErrorCode[]): boolean =>
  error instanceof ApiError && codes.some((code) => code === error.errorCode)

/** A failed or rejecting call of an operator's hook. */
export class HookError extends ApiError {
  readonly kind: HookErrorKind

  constructor(
    kind: HookErrorKind,
    status: number,
    code: ErrorCode,
    message: string,
    cause?: unknown,
    details: ApiErrorDetails = {},
  ) {
    super(status, code, message, { cause, ...details })
    this.kind = kind
  }
}

/**
 * - rejected: the hook responded with an error object.
 * - unreachable: no connection was established, so the hook did not run.
 * - failed: the hook responded with an error status.
 * - timeout: no response arrived in time; the hook may have run.
 * - invalid_response: a success status with a body that cannot be parsed.
 */
type HookErrorKind = 'rejected' | 'unreachable' | 'failed' | 'timeout' | 'invalid_response'

/** The send quota of the server is exceeded; `details.retryAfter` is the time until it has room. */
export class SendQuotaExceeded extends ApiError {}

/** A message to this recipient was requested moments ago; `details.retryAfter` is the time to wait. */
export class RequestedTooSoon extends ApiError {}

/** A message was resent too soon; `details.retryAfter` says when it may be sent. */
export class RepeatTooSoon extends ApiError {}

const error = (status: number, code: ErrorCode, message: string, details?: ApiErrorDetails) =>
  new ApiError(status, code, message, details)

// Transport
export const badJson = (why: string) =>
  error(400, 'bad_json', `Could not parse request body as JSON: ${why}`)
export const validationFailed = (message: string, status: 400 | 404 | 422 = 400, cause?: unknown) =>
  error(status, 'validation_failed', message, { cause })
export const notFound = () =>
  error(404, 'not_found', 'There is nothing at this path. Check the URL and its prefix.')
export const webhookNotFound = () =>
  error(404, 'webhook_not_found', 'No webhook has this id. GET /admin/webhooks lists them.')
export const methodNotAllowed = (allow: string) =>
  error(405, 'method_not_allowed', `This path does not support this method. It allows: ${allow}`)
export const requestEntityTooLarge = (limit: number) =>
  error(413, 'request_entity_too_large', `Request body too large (max ${limit} bytes)`)
export const requestTimeout = (mayHaveTakenEffect: boolean, cause?: unknown) =>
  error(
    504,
    'request_timeout',
    mayHaveTakenEffect
      ? 'Processing this request timed out, and it may have taken effect: check before you retry.'
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
  serviceUnavailable('The database did not respond in time. Try again shortly.', 5, cause)
export const conflict = () =>
  error(
    409,
    'conflict',
    'Too many concurrent token refresh requests on the same session or refresh token',
  )
/** `constraint` is `constraint "name" of table schema.name`. It is for the operator, not for users. */
export const userReferenced = (constraint: string | undefined, cause: unknown) =>
  error(
    409,
    'conflict',
    constraint === undefined
      ? 'Other data still refers to this account, so it cannot be deleted'
      : `Rows of other tables refer to this user: ${constraint}. Delete them first, change the constraint to "on delete cascade" or "set null", or soft-delete the user.`,
    { cause },
  )
export const unknownHost = () =>
  error(
    403,
    'unknown_host',
    'Development pages are served under localhost, IP addresses, and the host names of AUTH_API_EXTERNAL_URL, AUTH_SITE_URL, AUTH_API_HOST and AUTH_MAILER_EXTERNAL_HOSTS. Use one of these, or add this host to AUTH_MAILER_EXTERNAL_HOSTS.',
  )
export const featureDisabled = (message: string) => error(404, 'feature_disabled', message)
/** With the variable, which a developer who meets the error can set. */
const disabled = (what: string, variable: string) => `${what}: set ${variable}=true`
export const oauthServerDisabled = () =>
  featureDisabled(disabled('The OAuth server is disabled', 'AUTH_OAUTH_SERVER_ENABLED'))
export const eventsDisabled = () =>
  featureDisabled(disabled('Events are disabled', 'AUTH_EVENTS_ENABLED'))
export const customProvidersDisabled = () =>
  featureDisabled(disabled('Custom providers are disabled', 'AUTH_CUSTOM_OAUTH_ENABLED'))
export const scimDisabled = () =>
  featureDisabled(disabled('SCIM is disabled', 'AUTH_EXPERIMENTAL_SCIM_ENABLED'))
export const customProviderNotFound = () =>
  error(404, 'custom_provider_not_found', 'No custom provider has this identifier')
export const customProviderConflict = (message: string) => error(400, 'conflict', message)
export const overCustomProviderQuota = (limit: number) =>
  error(
    400,
    'over_custom_provider_quota',
    `There are ${limit} custom providers already, which is the limit`,
  )
/** Rendered in the form of SCIM. */
export const scimRejected = (status: number, scimType: string | undefined, message: string) =>
  error(status, 'scim_request_rejected', message, { scimType })
export const scimConnectionNotFound = () =>
  error(404, 'scim_connection_not_found', 'There is no SCIM connection with this id')
export const scimConnectionExists = () =>
  error(422, 'scim_connection_exists', 'The SSO provider has a SCIM connection already')
export const scimTokenNotFound = () =>
  error(404, 'scim_token_not_found', 'The connection has no such token, or it was revoked')
export const usernamesDisabled = () =>
  featureDisabled(disabled('Usernames are disabled', 'AUTH_USERNAMES_ENABLED'))
export const usernameInvalid = (message: string) => error(422, 'username_invalid', message)
/** Also for a reserved word, a held name and a name with the same skeleton; the response does not reveal which. */
export const usernameTaken = () =>
  error(422, 'username_taken', 'This username, or one that looks like it, is not available')
export const usernameChangedRecently = (retryAfter: number) =>
  error(
    422,
    'username_changed_recently',
    `The username was changed recently. It can be changed again after ${retryAfter} seconds.`,
    { retryAfter },
  )
export const passkeyDisabled = () =>
  error(404, 'passkey_disabled', disabled('Passkeys are disabled', 'AUTH_PASSKEY_ENABLED'))
export const samlProviderDisabled = () =>
  error(404, 'saml_provider_disabled', disabled('SAML 2.0 is disabled', 'AUTH_SAML_ENABLED'))
export const ssoProviderNotFound = () =>
  error(404, 'sso_provider_not_found', 'No SSO provider has this id or domain')
export const ssoProviderDisabled = () =>
  error(404, 'sso_provider_disabled', 'The SSO provider is disabled')
export const ssoDomainAlreadyExists = (message: string) =>
  error(400, 'sso_domain_already_exists', message)
export const ssoProviderConflict = () =>
  error(422, 'conflict', 'Another SSO provider has this resource_id')
export const samlIdpAlreadyExists = () =>
  error(422, 'saml_idp_already_exists', 'An SSO provider already has this EntityID')
export const samlEntityIdMismatch = () =>
  error(400, 'saml_entity_id_mismatch', 'The metadata has another EntityID than the provider')
export const samlMetadataFetchFailed = (cause: unknown) =>
  error(400, 'saml_metadata_fetch_failed', 'The metadata cannot be fetched from metadata_url', {
    cause,
  })
export const samlMetadataExpired = () =>
  error(
    422,
    'saml_metadata_expired',
    'The metadata of the identity provider has expired. An admin has to renew it.',
  )
export const samlRelayStateNotFound = () =>
  error(404, 'saml_relay_state_not_found', 'This sign-in is unknown, or was already completed')
export const samlRelayStateExpired = () =>
  error(422, 'saml_relay_state_expired', 'This sign-in took too long. Start it again.')
export const samlIdpNotFound = () =>
  error(404, 'saml_idp_not_found', 'No SSO provider has the issuer of this response as EntityID')
export const samlIdpInitiatedDisabled = () =>
  error(
    403,
    'saml_idp_initiated_disabled',
    'Sign-ins that start at the identity provider are not accepted. Start the sign-in at the app.',
  )
/** `reason` is a text of this server. */
export const samlResponseInvalid = (reason: string) =>
  validationFailed(`The SAML response is not accepted: ${reason}`)
export const samlNoUserId = () =>
  error(
    400,
    'saml_assertion_no_user_id',
    'The SAML assertion has no id of the user that stays the same. Have the identity provider send a NameID in the format persistent or emailAddress, or the attribute subject-id.',
  )
export const samlNoEmail = () =>
  error(
    400,
    'saml_assertion_no_email',
    'The SAML assertion has no usable email address. Have the identity provider send it as the attribute email, or map its attribute with attribute_mapping.',
  )
export const providerNotAccepted = () =>
  error(
    403,
    'provider_not_accepted',
    'This identity provider cannot sign in to the account: the account has another email address or a role on the server, or the domain of the address is not verified for the provider. Sign in with another method.',
  )
export const web3ProviderDisabled = (chain?: string) => {
  const what = `${chain ? `${chain} ` : ''}Web3 provider is disabled`
  const variable = `AUTH_EXTERNAL_WEB3_${chain?.toUpperCase() ?? 'ETHEREUM'}_ENABLED`
  return error(422, 'web3_provider_disabled', disabled(what, variable))
}
export const web3UnsupportedChain = () =>
  error(400, 'web3_unsupported_chain', 'Unsupported chain: use ethereum or solana')
/** RFC 6749 §5.2, for clients that read `error`. */
export const walletRejected = (description: string) =>
  error(400, 'invalid_credentials', description, { oauth: { error: 'invalid_grant', description } })

// Bearer tokens and roles
export const noAuthorization = () =>
  error(401, 'no_authorization', 'This endpoint requires a valid Bearer token')
export const anonymousNotAllowed = () =>
  error(403, 'no_authorization', 'Anonymous user not allowed to perform these actions')
export const badJwt = (why: string, status: 400 | 403 = 403) => error(status, 'bad_jwt', why)
export const unexpectedAudience = () =>
  error(403, 'unexpected_audience', "Token audience doesn't match request audience")
export const notAdmin = () => error(403, 'not_admin', 'User not allowed')
export const adminRoleRequired = (minimum: string, role: string | null, rule?: string) =>
  error(
    403,
    'admin_role_required',
    `${rule ?? 'Your admin role does not allow this'}: it requires the role ${minimum}, but yours is ${role}`,
  )
export const mailNotFound = () =>
  error(404, 'mail_not_found', 'The email does not exist, or is being sent')
export const mailNotRetryable = (why: string) =>
  error(422, 'mail_not_retryable', `This email cannot be sent again: it ${why}`)
export const mailNotSent = (why: string) =>
  error(422, 'mail_not_sent', `The email was not sent: ${why}`)
export const settingLocked = (name: string) =>
  error(409, 'setting_locked', `${name} is set in the environment: change it there`)
export const invalidSettings = (faults: readonly string[]) =>
  error(422, 'invalid_settings', `${faults.join('. ')}. Nothing was changed.`)
export const settingNotFound = () =>
  error(404, 'setting_change_not_found', 'This change does not exist')
export const settingChangedSince = (name: string) =>
  error(
    409,
    'setting_changed',
    `${name} was changed since. Send "force": true to restore the earlier value anyway.`,
  )
export const adminExists = () => error(409, 'admin_exists', 'The user is already an admin')
export const noSuchAdmin = () => error(404, 'admin_not_found', 'The user is not an admin')
export const lastOwner = () =>
  error(422, 'last_owner', 'This is the last owner. Make another admin an owner first.')
export const firstAdminLinkInvalid = () =>
  error(
    403,
    'first_admin_link_invalid',
    'The link was used or has expired, or there already is an admin. Restart the server for a new one, or run npm run admin -- create ADDRESS.',
  )
// Organizations
export const organizationsDisabled = () =>
  error(
    422,
    'organizations_disabled',
    'Organizations are off on this server. Set AUTH_ORGANIZATIONS_ENABLED=true to switch them on.',
  )
export const organizationNotFound = () =>
  error(
    404,
    'organization_not_found',
    'There is no organization with this id, or you are not a member of it',
  )
export const organizationSlugTaken = () =>
  error(409, 'organization_slug_taken', 'Another organization has this slug. Choose another one.')
export const organizationPermissionRequired = (permission: string) =>
  error(
    403,
    'organization_permission_required',
    `Your role in this organization does not allow this. It needs the permission ${permission}.`,
  )
export const organizationRoleTooHigh = () =>
  error(
    403,
    'organization_role_too_high',
    'This role has permissions that yours does not have. Only a member with all of them may do this.',
  )
export const organizationCreationDisabled = () =>
  error(403, 'organization_creation_disabled', 'Organizations are created by admins only')
export const organizationLimitReached = (what: string) =>
  error(422, 'organization_limit_reached', what)
export const lastOrganizationOwner = () =>
  error(
    422,
    'last_owner',
    'This is the last owner of an organization. Make another member an owner first, or delete the organization.',
  )
export const memberNotFound = () =>
  error(404, 'member_not_found', 'The user is not a member of this organization')
export const memberExists = () =>
  error(409, 'member_exists', 'The user is a member of this organization already')
export const organizationRoleNotFound = (name: string) =>
  error(422, 'organization_role_not_found', `This organization has no role ${JSON.stringify(name)}`)
export const organizationRoleExists = () =>
  error(409, 'organization_role_exists', 'There is a role with this name')
export const organizationRoleInUse = () =>
  error(
    409,
    'organization_role_in_use',
    'Members, invitations, groups or connections have this role. Give them another one first.',
  )
export const organizationJoinDisabled = (how: string) =>
  error(403, 'organization_join_disabled', `This organization does not let users join by ${how}`)
export const organizationInvitationNotFound = () =>
  error(
    404,
    'organization_invitation_not_found',
    'There is no such invitation for you: it was used, was revoked, or has expired. Ask for another one.',
  )
export const organizationInvitationForAnother = () =>
  error(
    403,
    'organization_invitation_for_another',
    'The invitation is for another email address. Sign in with an account that has this address.',
  )
export const organizationInvitationLimit = (retryAfter: number) =>
  error(
    429,
    'over_organization_invitation_limit',
    'Too many emails of organizations were sent by this user or organization, or to this address. Wait before you send another one.',
    { retryAfter },
  )
export const organizationDomainNotFound = () =>
  error(404, 'organization_domain_not_found', 'This organization has no such domain')
export const organizationDomainExists = () =>
  error(409, 'organization_domain_exists', 'This organization has this domain already')
export const organizationDomainTaken = () =>
  error(409, 'organization_domain_taken', 'Another organization has verified this domain')
export const organizationDomainShared = (domain: string) =>
  error(
    422,
    'organization_domain_shared',
    `${domain} is a public suffix or the domain of a mail provider: its addresses belong to users of no one organization. Add a domain of the organization's own.`,
  )
export const organizationDomainUnverified = (why: string) =>
  error(422, 'organization_domain_unverified', why)
export const organizationConnectionNotFound = () =>
  error(404, 'organization_connection_not_found', 'This organization has no such connection')
export const organizationConnectionExists = () =>
  error(409, 'organization_connection_exists', 'The provider is bound to an organization already')
export const organizationGroupNotFound = () =>
  error(404, 'organization_group_not_found', 'This organization has no such group')
export const userFromTokenNotFound = () =>
  error(403, 'user_not_found', 'User from sub claim in JWT does not exist')
export const userNotFound = (message = 'User not found') => error(404, 'user_not_found', message)
export const sessionNotFound = () =>
  error(403, 'session_not_found', 'Session from session_id claim in JWT does not exist')
export const noSuchSession = () => error(404, 'session_not_found', 'The session does not exist')
export const sessionInvalid = () =>
  error(403, 'session_expired', 'Session is no longer valid. Sign in again.')
export const insufficientAal = (message: string, status: 401 | 403 | 422 = 401) =>
  error(status, 'insufficient_aal', message)
export const sessionImpersonated = () =>
  error(
    403,
    'session_impersonated',
    'An impersonation session cannot change how the user signs in: use the admin endpoints',
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
/** Deactivated by SCIM, which is not a ban. */
export const userDeactivated = (status: 400 | 403) =>
  error(status, 'user_deactivated', 'The account was deactivated by the organization it belongs to')
export const userBanned = (status: 400 | 403, message = 'User is banned') =>
  error(status, 'user_banned', message)
export const tooManyAttempts = (retryAfter: number) =>
  error(
    429,
    'over_request_rate_limit',
    `Too many failed attempts. Try again after ${retryAfter} seconds.`,
    { retryAfter },
  )

/** Usernames of sign-ups that are not verified. */
export const tooManyUnverifiedUsernames = (retryAfter: number) =>
  error(
    429,
    'over_request_rate_limit',
    'Too many usernames were chosen from this network for addresses that are not verified. Verify one, or sign up without a username.',
    { retryAfter },
  )

/** The daily limit of failed attempts. It ends with the day, or with a link that only the owner can read. */
export const tooManyAttemptsToday = (retryAfter: number) =>
  error(
    429,
    'over_request_rate_limit',
    `Too many failed attempts in a day. Sign in by a link sent by email, or try again after ${retryAfter} seconds.`,
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
  error(
    422,
    'anonymous_provider_disabled',
    disabled('Anonymous sign-ins are disabled', 'AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED'),
  )
export const emailProviderDisabled = (what: string, status: 400 | 422) =>
  error(status, 'email_provider_disabled', disabled(what, 'AUTH_EXTERNAL_EMAIL_ENABLED'))
export const magicLinkDisabled = () =>
  error(
    422,
    'email_provider_disabled',
    disabled('Login with magic link is disabled', 'AUTH_EXTERNAL_EMAIL_MAGIC_LINK_ENABLED'),
  )
export const phoneProviderDisabled = (what: string, status: 400 | 422) =>
  error(status, 'phone_provider_disabled', disabled(what, 'AUTH_EXTERNAL_PHONE_ENABLED'))
export const otpDisabled = () => error(422, 'otp_disabled', 'Signups not allowed for otp')
export const captchaFailed = (why: string) =>
  error(400, 'captcha_failed', `captcha protection: request disallowed (${why})`)

// Metadata
export const metadataTooLarge = (
  name: string,
  { each, together }: { each: number; together: number },
) =>
  error(
    422,
    'metadata_too_large',
    `${name} may have no more than ${Math.min(each, together)} bytes of JSON, and user_metadata and app_metadata together no more than ${together}`,
  )
export const tokenTooLarge = (claim: string, limit: number) =>
  error(
    422,
    'token_too_large',
    `The access token would be longer than ${limit} characters: reduce ${claim}`,
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
  error(400, 'current_password_invalid', 'The current password is wrong.')
export const hashQueueFull = () =>
  serviceUnavailable('The server is busy checking passwords. Try again in a moment.', 2)

// Refresh tokens
export const refreshTokenNotFound = () =>
  error(400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found')
export const refreshTokenAlreadyUsed = () =>
  error(400, 'refresh_token_already_used', 'Invalid Refresh Token: Already Used')
export const refreshSessionNotFound = () =>
  error(400, 'session_not_found', 'Invalid Refresh Token: No Valid Session Found')
/** RFC 6749 §5.2. Only the OAuth server that issued the token can distinguish clients. */
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

// The OAuth server
const oauthError = (
  status: number,
  name: ErrorCode,
  description: string,
  { challenge }: { challenge?: string } = {},
) =>
  error(status, name, description, {
    oauth: { error: name, description },
    ...(challenge !== undefined && { challenge }),
  })
export const oauthClientNotFound = (status: 400 | 404 = 404) =>
  error(status, 'oauth_client_not_found', 'No OAuth client has this client_id')
export const oauthAuthorizationNotFound = () =>
  error(
    404,
    'oauth_authorization_not_found',
    'The authorization request does not exist or has expired. Start again at the application.',
  )
export const oauthConsentNotFound = () =>
  error(404, 'oauth_consent_not_found', 'The user has granted nothing to this client')
export const dynamicRegistrationDisabled = () =>
  error(
    403,
    'oauth_dynamic_client_registration_disabled',
    'Clients cannot register themselves here: ask the operator for a client_id, or set AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION=true',
  )
/** RFC 6749 §5.2, with the required challenge for a client that used HTTP authentication. */
export const invalidClient = (description: string, usesBasic: boolean) =>
  error(401, 'invalid_credentials', description, {
    oauth: { error: 'invalid_client', description },
    ...(usesBasic && { challenge: 'Basic realm="oauth", charset="UTF-8"' }),
  })
export const oauthInvalidRequest = (description: string) =>
  oauthError(400, 'invalid_request', description)
export const invalidGrant = (description: string) => oauthError(400, 'invalid_grant', description)
/** The rejection of a refresh token, which keeps the code that GoTrue has for it. */
export const refusedGrant = ({ errorCode: code, message }: ApiError) =>
  new ApiError(400, code, message, { oauth: { error: 'invalid_grant', description: message } })
export const oauthAccessDenied = (description: string) =>
  oauthError(400, 'access_denied', description)
export const unauthorizedClient = (description: string) =>
  oauthError(400, 'unauthorized_client', description)
export const oauthUnsupportedGrantType = (description: string) =>
  oauthError(400, 'unsupported_grant_type', description)
export const invalidScope = (description: string) => oauthError(400, 'invalid_scope', description)
export const invalidTarget = (description: string) => oauthError(400, 'invalid_target', description)
/** RFC 8628 §3.5. */
export const devicePending = (name: 'authorization_pending' | 'slow_down' | 'expired_token') =>
  oauthError(400, name, deviceMessages[name])
const deviceMessages = {
  authorization_pending: 'The user has not decided yet',
  slow_down: 'Increase the polling interval by five seconds',
  expired_token: 'The device code has expired: start again',
}
/** RFC 7591 §3.2.2. */
export const invalidClientMetadata = (
  name: 'invalid_redirect_uri' | 'invalid_client_metadata',
  description: string,
) => error(400, 'validation_failed', description, { oauth: { error: name, description } })
/** RFC 6750 §3.1. */
export const invalidToken = (description: string) =>
  oauthError(401, 'invalid_token', description, {
    challenge: `Bearer error="invalid_token", error_description="${description}"`,
  })
export const clientTokenRejected = () =>
  oauthError(
    403,
    'insufficient_scope',
    'This access token belongs to an OAuth client. On this server, only /oauth/userinfo accepts it.',
    { challenge: 'Bearer error="insufficient_scope"' },
  )
/** A form that was not submitted from a page of this server, or from an expired one. */
export const crossSiteForm = () =>
  validationFailed('This form is no longer valid. Go back, reload the page and try again.')
/** The request can only be approved after a sign-in. */
export const approvalNeedsSignIn = () =>
  error(403, 'reauthentication_needed', 'The application requires a new sign-in: sign in again')

// One-time tokens and mail
export const otpExpired = () => error(403, 'otp_expired', 'Token has expired or is invalid')
/** A link of the hosted pages, which is not consumed. */
export const linkOpenedElsewhere = () =>
  error(
    403,
    'link_opened_elsewhere',
    'This link works in the browser where it was requested. Open it there, or request a new one.',
  )
export const linkExpired = () => error(403, 'otp_expired', 'Email link is invalid or has expired')
export const sentTooRecently = (channel: 'email' | 'sms', seconds: number) =>
  new RequestedTooSoon(
    429,
    channel === 'email' ? 'over_email_send_rate_limit' : 'over_sms_send_rate_limit',
    `For security purposes, you can only request this after ${seconds} seconds.`,
    { retryAfter: seconds },
  )
/** Thrown to a worker, never to a client. */
export const repeatTooSoon = (retryAfter: number) =>
  new RepeatTooSoon(
    429,
    'over_request_rate_limit',
    'The original message is still being sent. Try again shortly.',
    {
      retryAfter,
    },
  )
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
export const emailAddressInvalid = (address: string) =>
  error(400, 'email_address_invalid', `Email address "${address}" is invalid`)
export const mailNotConfigured = () =>
  error(
    500,
    'email_provider_not_configured',
    'This server cannot send email: the operator has to set AUTH_SMTP_HOST, AUTH_SMTP_PORT and AUTH_SMTP_ADMIN_EMAIL',
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
  error(400, 'flow_state_already_used', 'invalid flow state, it was already used')
export const badCodeVerifier = () =>
  error(400, 'bad_code_verifier', 'code challenge does not match previously saved code verifier')

// External providers and identities
export const badOauthCallback = (message: string, cause?: unknown) =>
  error(400, 'bad_oauth_callback', message, { cause })
export const badOauthState = (message: string) => error(400, 'bad_oauth_state', message)
/** Another callback completed the sign-in, which has a code verifier of ours (RFC 7636). */
export const oauthClientStateNotFound = () =>
  error(422, 'oauth_client_state_not_found', 'OAuth state not found')
export const oauthInvalidState = (cause: unknown) =>
  error(400, 'oauth_invalid_state', 'OAuth PKCE code verifier missing', { cause })
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
/** The error of the provider in the callback (RFC 6749 §4.1.2.1), without an error code of ours. */
export const providerRejected = (oauthError: string, cause?: unknown) => {
  const description = 'The provider did not sign the user in'
  return new ApiError(400, '', description, { oauth: { error: oauthError, description }, cause })
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
    'The provider has not verified this email address. Open the link in the confirmation email, then sign in again.',
  )
export const providerEmailUnverified = () =>
  error(
    422,
    'provider_email_needs_verification',
    'A user already has this email address, and the provider has not verified it',
  )
export const inviteNotFound = () => error(404, 'invite_not_found', 'Invite not found')
export const manualLinkingDisabled = () =>
  error(
    404,
    'manual_linking_disabled',
    disabled('Manual linking is disabled', 'AUTH_SECURITY_MANUAL_LINKING_ENABLED'),
  )
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

// Second factors. Messages that apps compare or translate are GoTrue's.
export const mfaFactorNotFound = () => error(404, 'mfa_factor_not_found', 'Factor not found')
export const recoveryCodesNotFound = () =>
  error(404, 'mfa_factor_not_found', 'The user has no recovery codes: generate them first')
export const mfaChallengeNotFound = () =>
  error(422, 'mfa_factor_not_found', 'The challenge does not exist for this factor and session')
export const mfaNotEnabled = (what: 'enroll' | 'verify', type: 'totp' | 'phone' | 'webauthn') => {
  const action = { enroll: 'enroll', verify: 'verification' }[what]
  const factor = { totp: 'TOTP', phone: 'Phone', webauthn: 'WebAuthn' }[type]
  const variable = `AUTH_MFA_${{ totp: 'TOTP', phone: 'PHONE', webauthn: 'WEB_AUTHN' }[type]}_${what.toUpperCase()}_ENABLED`
  return error(
    422,
    `mfa_${type}_${what}_not_enabled`,
    disabled(`MFA ${action} is disabled for ${factor}`, variable),
  )
}
/** Also when an admin sets a phone number that another unverified factor has. */
export const mfaVerifiedFactorExists = () =>
  error(422, 'mfa_verified_factor_exists', 'This phone number is already a factor of this user')
export const recoveryCodesNotEnabled = (what: 'enroll' | 'verify') =>
  error(
    422,
    `mfa_recovery_codes_${what}_not_enabled`,
    disabled(
      `MFA ${what === 'enroll' ? 'enroll' : 'verification'} is disabled for recovery codes`,
      `AUTH_MFA_RECOVERY_CODES_${what.toUpperCase()}_ENABLED`,
    ),
  )
export const soleRecoveryFactor = () =>
  error(
    422,
    'mfa_recovery_codes_sole_factor',
    'Recovery codes require another verified factor: add one first, or delete the codes first',
  )
export const recoveryCodeWrong = () =>
  mfaVerificationFailedError('The recovery code is wrong or was already used')
export const recoveryCodesLocked = (retryAfter: number) =>
  error(
    429,
    'mfa_recovery_codes_locked',
    `Too many wrong recovery codes: try again in ${retryAfter} s`,
    { retryAfter },
  )
export const recoveryCodesExist = () =>
  error(
    422,
    'mfa_verified_factor_exists',
    'The user already has recovery codes: regenerate them to get new ones',
  )
export const tooManyEnrolledFactors = () =>
  error(
    422,
    'too_many_enrolled_mfa_factors',
    'Maximum number of verified factors reached, unenroll to continue',
  )
/** Also for a consumed challenge. */
export const mfaIpAddressMismatch = () =>
  error(
    422,
    'mfa_ip_address_mismatch',
    'This challenge was already used, or was created for another client address',
  )
export const mfaChallengeExpired = () =>
  error(422, 'mfa_challenge_expired', 'This challenge has expired: create a new one')
export const mfaVerificationFailedError = (message: string) =>
  error(422, 'mfa_verification_failed', message)
/** Also for an expired or consumed code. */
export const mfaInvalidCode = (type: 'totp' | 'phone' | 'webauthn') => {
  const messages = {
    totp: 'Invalid TOTP code entered',
    phone: 'Invalid MFA Phone code entered',
    webauthn: 'The security key could not be verified',
  }
  return mfaVerificationFailedError(messages[type])
}
export const mfaVerificationRejected = (message: string) =>
  error(403, 'mfa_verification_rejected', message)
export const mfaEnrollmentRequired = () =>
  error(403, 'mfa_enrollment_required', 'Users with this role must add a second factor first')
export const mfaFactorNameConflict = (name: string) =>
  error(
    422,
    'mfa_factor_name_conflict',
    `A factor with the friendly name "${name}" for this user already exists`,
  )

// Passkeys
export const noSuchPasskey = () => validationFailed('The passkey does not exist', 404)
export const tooManyPasskeys = () =>
  error(422, 'too_many_passkeys', 'The maximum number of passkeys is reached. Delete one first.')
export const webauthnChallengeNotFound = () =>
  error(400, 'webauthn_challenge_not_found', 'The challenge does not exist or was already used')
export const webauthnChallengeExpired = () =>
  error(400, 'webauthn_challenge_expired', 'The challenge has expired. Request a new one.')
export const webauthnVerificationFailed = (cause?: unknown) =>
  error(400, 'webauthn_verification_failed', 'The passkey could not be verified', { cause })
export const webauthnCredentialExists = () =>
  error(422, 'webauthn_credential_exists', 'This passkey is already registered')

// Hooks
/** `status` and `message` come from the hook. */
export const hookRejected = (status: number, message: string, cause?: unknown) =>
  new HookError(
    'rejected',
    status,
    status === 500 ? 'unexpected_failure' : 'unknown',
    message,
    cause,
  )
export const hookUnreachable = (cause: unknown) =>
  new HookError('unreachable', 500, 'unexpected_failure', 'A hook could not be reached', cause)
export const hookUnreachableAfterRetry = (kind: 'unreachable' | 'timeout', cause: unknown) =>
  new HookError(
    kind,
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
    'A hook returned an error. Try again later.',
    cause,
  )
export const hookTimeout = (cause?: unknown) =>
  new HookError(
    'timeout',
    422,
    'hook_timeout',
    'A hook did not respond in time. Try again later.',
    cause,
  )
export const hookFunctionTimeout = (cause: unknown) =>
  new HookError(
    'timeout',
    500,
    'unexpected_failure',
    'A database function hook did not finish in time. Try again later.',
    cause,
  )
/** The function may have completed. */
export const hookFunctionLost = (cause: unknown) =>
  new HookError(
    'timeout',
    503,
    'service_unavailable',
    'The database cannot be reached. Try again shortly.',
    cause,
    { retryAfter: 5 },
  )
export const hookWrongContentType = (type: string) =>
  new HookError(
    'invalid_response',
    400,
    'hook_payload_invalid_content_type',
    'A hook returned something other than application/json',
    new Error(`content-type: ${type.slice(0, 200) || 'none'}`),
  )
export const hookResponseTooLarge = (limit: number) =>
  new HookError(
    'invalid_response',
    422,
    'hook_payload_over_size_limit',
    `A hook returned more than ${limit} bytes`,
  )
export const hookResponseInvalid = (why: string, cause?: unknown) =>
  new HookError('invalid_response', 500, 'unexpected_failure', why, cause)
/** Another request created or deleted the account between the hook call and the change. */
export const accountChangedConcurrently = () =>
  serviceUnavailable('The account was changed by another request. Try again.', 1)
