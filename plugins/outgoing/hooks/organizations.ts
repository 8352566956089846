/** BEFORE_ORGANIZATION_JOIN. */
import type { HookCaller } from './caller.ts'

export interface JoinHookInput {
  organization: { id: string; slug: string; name: string }
  /** The id is null for a user who is created by the same sign-in. */
  user: { id: string | null; email: string | null }
  role: string
  joined_by: string
}

/** Calls the hook that decides whether the user may become a member. Throws HookError when not. */
export function beforeOrganizationJoin(call: HookCaller) {
  return async (question: JoinHookInput, ip: string): Promise<void> => {
    await call(question, { ip })
  }
}
