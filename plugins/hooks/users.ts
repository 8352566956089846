/** BEFORE_USER_CREATED and AFTER_USER_CREATED. */
import type { User } from '../../schemas/user.ts'
import type { HookCaller } from './caller.ts'
import { type UnsavedUser, unsavedUser } from './unsaved-user.ts'

/** Asks whether the account may be made. Throws HookError when not. */
export function askForUser(call: HookCaller) {
  return async (user: UnsavedUser, ip: string): Promise<void> => {
    await call({ user: unsavedUser(user) }, { ip })
  }
}

/** Tells of an account that was made; `uuid` is the same for every attempt. Throws HookError. */
export function tellOfUser(call: HookCaller) {
  return async (user: User, told: { ip: string; uuid: string }): Promise<void> => {
    await call({ user }, told)
  }
}
