/** A person adds a second factor. It counts once it was proven, in the session that added it. */
import type { Trx } from '../../../db/database.ts'
import { deleteStaleFactors, insertFactor } from '../../../db/factors.ts'
import type { FactorType } from '../../../db/mfa.ts'
import type { UserRecord } from '../../../db/users.ts'
import {
  insufficientAal,
  mfaFactorNameConflict,
  mfaVerifiedFactorExists,
  tooManyEnrolledFactors,
} from '../../../errors.ts'
import type { Member } from '../../bearer-auth.ts'
import type { House } from '../../define-plugin.ts'
import { enrolmentOf, newSecret } from './totp.ts'

export interface Enrolment {
  type: FactorType
  name: string
  /** Of a TOTP factor; the site's host by default. */
  issuer: string | undefined
  /** Of a phone factor: E.164 digits. */
  phone: string | null
}

type EnrolHouse = House<'audit' | 'bearerAuth' | 'config' | 'encryption'>

/**
 * Adds the factor, unverified. Throws mfa_verified_factor_exists, mfa_factor_name_conflict,
 * too_many_enrolled_mfa_factors or insufficient_aal, and what `authenticate` throws.
 */
export async function enrol(
  house: EnrolHouse,
  trx: Trx,
  member: Member,
  enrolment: Enrolment,
  { ip, now }: { ip: string; now: Date },
) {
  const { audit, bearerAuth, config, encryption } = house
  const held = await bearerAuth.holdMember(trx, member, now)
  await checkRoom(house, trx, held, enrolment, now)

  const id = crypto.randomUUID()
  const { type, name, phone, issuer = new URL(config.AUTH_SITE_URL).host } = enrolment
  const secret = type === 'totp' ? newSecret() : undefined
  const sealed = secret ? encryption.seal(id, secret) : ''
  const { user } = held
  const session = { userId: user.id, sessionId: held.session.session_id }
  await insertFactor(trx, { id, type, name, phone, secret: sealed, ...session }, now)
  const traits = { factor_id: id, factor_type: type, factor_status: 'unverified' }
  await audit.record(trx, 'factor_in_progress', user, { ip, now, traits })
  const totp = secret && enrolmentOf(secret, issuer, user.email || user.phone || user.id)
  return { id, type, friendly_name: name, ...(totp && { totp }) }
}

async function checkRoom(
  house: House<'bearerAuth' | 'config'>,
  trx: Trx,
  member: Member,
  { name, phone }: Enrolment,
  now: Date,
): Promise<void> {
  const { bearerAuth, config } = house
  const { user } = member
  const taken = user.factors.some((factor) => isVerified(factor) && factor.phone === phone)
  if (phone && taken) throw mfaVerifiedFactorExists()
  const factors = await withoutStale(house, trx, user, phone, now)
  if (factors.some(({ friendly_name }) => (friendly_name ?? '') === name)) {
    throw mfaFactorNameConflict(name)
  }
  const verified = factors.filter(isVerified).length
  if (
    factors.length >= config.AUTH_MFA_MAX_ENROLLED_FACTORS ||
    verified >= config.AUTH_MFA_MAX_VERIFIED_FACTORS
  ) {
    throw tooManyEnrolledFactors()
  }
  if (!bearerAuth.isConfirmed(member, now)) {
    throw insufficientAal('AAL2 required to enroll a new factor', 403)
  }
}

async function withoutStale(
  { config }: House<'config'>,
  trx: Trx,
  user: UserRecord,
  phone: string | null,
  now: Date,
): Promise<UserRecord['factors']> {
  const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
  const removed = await deleteStaleFactors(trx, user.id, {
    createdBefore: ago(config.AUTH_MFA_FACTOR_EXPIRY_DURATION),
    challengedBefore: ago(config.AUTH_MFA_CHALLENGE_EXPIRY_DURATION),
    phone,
  })
  return user.factors.filter(({ id }) => !removed.includes(id))
}

const isVerified = ({ status }: UserRecord['factors'][number]) => status === 'verified'
