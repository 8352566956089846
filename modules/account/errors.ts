/** Texts of the account page for errors of the API. */
import type { AccountTextName } from '../../ui/account/texts.ts'
import { errorTextName } from '../pages/index.ts'

const texts: Record<string, AccountTextName> = {
  email_exists: 'email_taken',
  email_address_not_authorized: 'email_taken',
  email_conflict_identity_not_deletable: 'email_taken',
  phone_exists: 'phone_taken',
  username_taken: 'username_taken',
  username_invalid: 'username_invalid',
  username_changed_recently: 'username_recent',
  mfa_verified_factor_exists: 'phone_taken',
  identity_already_exists: 'identity_taken',
  current_password_invalid: 'wrong_password',
  current_password_required: 'need_password',
  reauthentication_not_valid: 'wrong_code',
  mfa_challenge_expired: 'wrong_code',
  single_identity_not_deletable: 'last_method',
  mfa_recovery_codes_sole_factor: 'codes_first',
  session_impersonated: 'not_yours',
  user_sso_managed: 'managed',
  mfa_factor_name_conflict: 'name_taken',
  too_many_enrolled_mfa_factors: 'limit_reached',
  too_many_passkeys: 'limit_reached',
  validation_failed: 'bad_entry',
  metadata_too_large: 'bad_entry',
  phone_provider_disabled: 'bad_entry',
  sms_send_failed: 'send_failed',
  email_provider_not_configured: 'send_failed',
  webauthn_challenge_expired: 'key_failed',
  webauthn_challenge_not_found: 'key_failed',
  webauthn_credential_exists: 'key_failed',
  webauthn_verification_failed: 'key_failed',
}

/** Returns the account page's text for an error code. */
export const accountErrorText = (errorCode: string): AccountTextName =>
  texts[errorCode] ?? errorTextName(errorCode)
