/** BEFORE_USER_CREATED and AFTER_USER_CREATED. */
import type { User } from '../../../schemas/user.ts'
import type { HookCaller } from './caller.ts'
import { type UnsavedUser, unsavedUser } from './unsaved-user.ts'

/** Calls the hook that decides whether the user may be created. Throws HookError when not. */
export function beforeUserCreated(call: HookCaller) {
  return async (user: UnsavedUser, ip: string): Promise<void> => {
    await call({ user: unsavedUser(user) }, { ip })
  }
}

/** Reports a created user; `uuid` is the same for every attempt. Throws HookError. */
export function afterUserCreated(call: HookCaller) {
  return async (user: User, told: { ip: string; uuid: string }): Promise<void> => {
    await call({ user }, told)
  }
}
