import type { Trx } from '../../../db/database.ts'
import { recomputeProviders } from '../../../db/identities.ts'
import { findUser, type UserRecord } from '../../../db/users.ts'
import type { AuditAction } from '../../audit.ts'
import type { VerificationType } from '../links/kinds.ts'

export type VerifiedType = VerificationType | 'sms' | 'phone_change'

export type Verified =
  | { state: 'done'; user: UserRecord; type: VerifiedType; action: AuditAction }
  /** The first of two links of an email change. */
  | { state: 'half'; user: UserRecord }
  /** Wrong, late, used, foreign: one answer for all. */
  | { state: 'refused' }

/** The person as they are after the effect, with the providers their identities now tell. */
export async function done(
  trx: Trx,
  { id }: UserRecord,
  type: VerifiedType,
  action: AuditAction,
  now: Date,
): Promise<Verified> {
  await recomputeProviders(trx, id, now)
  const user = await findUser(trx, id)
  return user ? { state: 'done', user, type, action } : { state: 'refused' }
}
