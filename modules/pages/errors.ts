/** Texts of the pages for API errors. */
import type { TextName } from '../../ui/texts.ts'
import { type ApiResponse, textIn } from './api.ts'

const texts: Record<string, TextName> = {
  invalid_credentials: 'wrong_credentials',
  otp_expired: 'wrong_code',
  mfa_verification_failed: 'wrong_code',
  user_already_exists: 'address_taken',
  email_exists: 'address_taken',
  signup_disabled: 'sign_up_disabled',
  email_not_confirmed: 'unconfirmed',
  phone_not_confirmed: 'unconfirmed',
  over_request_rate_limit: 'too_many',
  over_email_send_rate_limit: 'too_many',
  over_sms_send_rate_limit: 'too_many',
  weak_password: 'weak_password',
  same_password: 'weak_password',
  user_banned: 'banned',
  sso_provider_not_found: 'sso_unknown',
  sso_provider_disabled: 'sso_unavailable',
  saml_provider_disabled: 'sso_unavailable',
  saml_idp_not_found: 'sso_unavailable',
  saml_metadata_expired: 'sso_unavailable',
  captcha_failed: 'captcha_failed',
}

/** Undefined for a successful response. */
export function errorText(response: ApiResponse): TextName | undefined {
  if (response.status < 400) return undefined
  return errorTextName(textIn(response, 'error_code') ?? '')
}

/** The pages' text for an error code. */
export const errorTextName = (errorCode: string): TextName =>
  (Object.hasOwn(texts, errorCode) && texts[errorCode]) || 'failed'
