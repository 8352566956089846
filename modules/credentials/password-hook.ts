/** The operator's PASSWORD_VERIFICATION_ATTEMPT hook, called after every password verification. */
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { invalidCredentials } from '../../schemas/errors.ts'
import { revokeAllSessions } from '../sessions/index.ts'

type HookDeps = Deps<'db' | 'hooks' | 'sessions'>

/**
 * Reports a correct password. Throws invalid_credentials with the hook's message when the hook rejects it, and
 * HookError.
 */
export async function reportCorrectPassword(
  deps: HookDeps,
  { id }: UserRecord,
  ip: string,
): Promise<void> {
  if (!deps.hooks.passwordVerificationAttempt) return
  const decision = await deps.hooks.passwordVerificationAttempt({ user_id: id, valid: true }, ip)
  if (!decision.isRejected) return
  if (decision.endsSessions) await endSessions(deps, id)
  throw invalidCredentials(decision.message)
}

/**
 * Reports a wrong password. The client neither waits for the hook nor gets its message: an unknown identifier has no
 * hook call, and the response must not reveal that.
 */
export function reportWrongPassword(deps: HookDeps, { id }: UserRecord, ip: string): void {
  const { passwordVerificationAttempt, later } = deps.hooks
  if (!passwordVerificationAttempt) return
  later(async () => {
    const decision = await passwordVerificationAttempt({ user_id: id, valid: false }, ip)
    if (decision.isRejected && decision.endsSessions) await endSessions(deps, id)
  })
}

function endSessions({ db, sessions }: Pick<HookDeps, 'db' | 'sessions'>, userId: string) {
  // The hook may have taken seconds.
  return db.transaction().execute((trx) => revokeAllSessions(sessions, trx, userId, {}, new Date()))
}
