/** The operator's PASSWORD_VERIFICATION_ATTEMPT hook, called after every password verification. */
import type { UserRecord } from '../../db/users/users.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { invalidCredentials } from '../../schemas/errors.ts'
import { revokeAllSessions } from '../sessions/index.ts'

type AskDeps = Deps<'db' | 'hooks' | 'sessions'>

/**
 * Reports a correct password. Throws invalid_credentials with the hook's message when the hook rejects it, and
 * HookError.
 */
export async function reportCorrectPassword(
  deps: AskDeps,
  { id }: UserRecord,
  ip: string,
): Promise<void> {
  if (!deps.hooks.judgePassword) return
  const verdict = await deps.hooks.judgePassword({ user_id: id, valid: true }, ip)
  if (!verdict.isRejected) return
  if (verdict.endsSessions) await endSessions(deps, id)
  throw invalidCredentials(verdict.message)
}

/**
 * Reports a wrong password. The client neither waits for the hook nor gets its message: an unknown identifier has no
 * hook call, and the response must not reveal that.
 */
export function reportWrongPassword(deps: AskDeps, { id }: UserRecord, ip: string): void {
  const { judgePassword, later } = deps.hooks
  if (!judgePassword) return
  later(async () => {
    const verdict = await judgePassword({ user_id: id, valid: false }, ip)
    if (verdict.isRejected && verdict.endsSessions) await endSessions(deps, id)
  })
}

function endSessions({ db, sessions }: Pick<AskDeps, 'db' | 'sessions'>, userId: string) {
  // The hook may have taken seconds.
  return db.transaction().execute((trx) => revokeAllSessions(sessions, trx, userId, {}, new Date()))
}
