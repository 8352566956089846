/** The operator's PASSWORD_VERIFICATION_ATTEMPT hook, which hears of every password that was compared. */
import type { UserRecord } from '../../../db/users.ts'
import { invalidCredentials } from '../../../errors.ts'
import type { House } from '../../define-plugin.ts'

type AskHouse = House<'db' | 'hooks' | 'sessions'>

/** The password was right. Throws invalid_credentials, with the hook's words, when the hook rejects it, and HookError. */
export async function askAboutRight(
  house: AskHouse,
  { id }: UserRecord,
  ip: string,
): Promise<void> {
  if (!house.hooks.judgePassword) return
  const verdict = await house.hooks.judgePassword({ user_id: id, valid: true }, ip)
  if (!verdict.isRejected) return
  if (verdict.endsSessions) await endSessions(house, id)
  throw invalidCredentials(verdict.message)
}

/**
 * The password was wrong. The client does not wait for the hook and never hears what it says: there is none to ask where
 * nobody has the address, and the answer must not tell.
 */
export function askAboutWrong(house: AskHouse, { id }: UserRecord, ip: string): void {
  const { judgePassword, later } = house.hooks
  if (!judgePassword) return
  later(async () => {
    const verdict = await judgePassword({ user_id: id, valid: false }, ip)
    if (verdict.isRejected && verdict.endsSessions) await endSessions(house, id)
  })
}

function endSessions({ db, sessions }: Pick<AskHouse, 'db' | 'sessions'>, userId: string) {
  // The hook may have taken seconds.
  return db.transaction().execute((trx) => sessions.endAll(trx, userId, {}, new Date()))
}
