import type { UserRecord } from '../../../db/users.ts'
import type { AuditAction } from '../audit/entry.ts'
import type { VerificationType } from '../otp/kinds.ts'

export type VerifiedType = VerificationType | 'sms' | 'phone_change'

/** What a spent code or link did. */
export type Verified =
  /** The person as they are after it. */
  | { state: 'done'; user: UserRecord; type: VerifiedType; action: AuditAction }
  /** The first of two links of an email change. */
  | { state: 'half'; user: UserRecord }
  /** Wrong, late, used, foreign: one answer for all. */
  | { state: 'refused' }
