/** The kinds of second factors: which of them are switched on, and what each is called in the `amr` of a session. */
import type { FactorType } from '../../../db/mfa.ts'
import { mfaNotEnabled } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'

export const methods = {
  totp: 'totp',
  phone: 'mfa/phone',
  webauthn: 'mfa/webauthn',
} as const satisfies Record<FactorType, string>

/** Throws mfa_totp_enroll_not_enabled and its like. */
export function requireEnroll({ config }: House<'config'>, type: FactorType): void {
  const on = {
    totp: config.AUTH_MFA_TOTP_ENROLL_ENABLED,
    phone: config.AUTH_MFA_PHONE_ENROLL_ENABLED,
    webauthn: config.AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED,
  }
  if (!on[type]) throw mfaNotEnabled('enroll', type)
}

/** Throws mfa_totp_verify_not_enabled and its like. */
export function requireVerify({ config }: House<'config'>, type: FactorType): void {
  const on = {
    totp: config.AUTH_MFA_TOTP_VERIFY_ENABLED,
    phone: config.AUTH_MFA_PHONE_VERIFY_ENABLED,
    webauthn: config.AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED,
  }
  if (!on[type]) throw mfaNotEnabled('verify', type)
}
