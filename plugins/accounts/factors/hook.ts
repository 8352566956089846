/** The operator's MFA_VERIFICATION_ATTEMPT hook, which hears of every code of an app or a phone that was compared. */
import type { Db } from '../../../db/database.ts'
import { type ApiError, HookError, mfaVerificationRejected } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'
import type { Asked } from './judge.ts'

const rejected = 'The verification was rejected. Sign in again.'

/**
 * What the hook refuses with, after all sessions of the person have ended; undefined when it lets the code pass. Returned
 * and not thrown: a guess stays counted whatever the hook says.
 */
export async function consult(
  { hooks, sessions }: House<'hooks' | 'sessions'>,
  db: Db,
  { factor }: Asked,
  { isRight, ip }: { isRight: boolean; ip: string },
): Promise<ApiError | undefined> {
  if (!hooks.judgeFactor || factor.factor_type === 'webauthn') return undefined
  const { id: factor_id, factor_type, user_id } = factor
  try {
    const guess = { user_id, factor_id, factor_type, valid: isRight }
    const verdict = await hooks.judgeFactor(guess, ip)
    if (!verdict.isRejected) return undefined
    // The hook may have taken seconds.
    await db.transaction().execute((trx) => sessions.endAll(trx, user_id, {}, new Date()))
    return mfaVerificationRejected(verdict.message ?? rejected)
  } catch (error) {
    if (error instanceof HookError) return error
    throw error
  }
}
