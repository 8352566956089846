/** Types of factors: which are enabled, and their amr values. */
import type { FastifyInstance } from 'fastify'

import type { ChallengeableFactorType, FactorType } from '../../db/tables/factors.ts'
import { mfaNotEnabled } from '../../schemas/errors.ts'

export const methods = {
  totp: 'totp',
  phone: 'mfa/phone',
  webauthn: 'mfa/webauthn',
  recovery_code: 'mfa/recovery_code',
} as const satisfies Record<FactorType, string>

/** Throws mfa_totp_enroll_not_enabled and the like. */
export function requireFactorEnrollEnabled(
  { config }: FastifyInstance,
  type: ChallengeableFactorType,
): void {
  const on = {
    totp: config.AUTH_MFA_TOTP_ENROLL_ENABLED,
    phone: config.AUTH_MFA_PHONE_ENROLL_ENABLED,
    webauthn: config.AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED,
  }
  if (!on[type]) throw mfaNotEnabled('enroll', type)
}

/** Throws mfa_totp_verify_not_enabled and the like. */
export function requireVerify(app: FastifyInstance, type: ChallengeableFactorType): void {
  if (!isVerifyEnabled(app, type)) throw mfaNotEnabled('verify', type)
}

/** Whether factors of this type can be verified. */
export function isVerifyEnabled(
  { config }: FastifyInstance,
  type: ChallengeableFactorType,
): boolean {
  const on = {
    totp: config.AUTH_MFA_TOTP_VERIFY_ENABLED,
    phone: config.AUTH_MFA_PHONE_VERIFY_ENABLED,
    webauthn: config.AUTH_MFA_WEB_AUTHN_VERIFY_ENABLED,
  }
  return on[type]
}
