import type { UserRecord } from '../../db/users/users.ts'
import type { AuditAction } from '../audit/actions.ts'
import type { VerificationType } from '../otp/links.ts'

type VerifiedType = VerificationType | 'sms' | 'phone_change'

/** The result of a consumed code or link. */
export type VerificationResult =
  /** The user after the change. */
  | { state: 'done'; user: UserRecord; type: VerifiedType; action: AuditAction }
  /** The first of two links of an email change. */
  | { state: 'half'; user: UserRecord }
  /** Wrong, expired, consumed or of another user: one response for all. */
  | { state: 'rejected' }
